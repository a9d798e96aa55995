"""The files of CrowdRAG-25: labels of people and of an LLM for pairs of answers, in seven dimensions.

    ratings.jsonl.gz               five votes per shown pair, with published spam estimates and gold
    raw_study2_responses.jsonl.gz  every vote, more than five on some pairs; the gold labels come from these
    llm_ratings.jsonl.gz           verdicts of an LLM in two modes, both orders, some pairs twice
    grades.jsonl.gz                grade 1..6 of every answer within its topic
    raw_expert-response.jsonl.gz   three experts on 30 pairs

`crowdrag_authors` finds out who wrote an answer.

Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile, opened_text

DIMENSIONS = (
    "correctness_topical",
    "coherence_logical",
    "coherence_stylistic",
    "coverage_broad",
    "coverage_deep",
    "consistency_internal",
    "quality_overall",
)
# People had to choose one answer overall: there is no "neither".
FORCED_CHOICE = frozenset({"quality_overall"})
ORDINAL = (Vote.A, Vote.TIE, Vote.B)
# The questionnaires have topical correctness under its earlier name.
_FIRST_NAME = {"correctness_topical": "validity"}
_LETTER = {"a": Vote.A, "n": Vote.TIE, "b": Vote.B}
# The published figures of experts come from these three; the file has the answers of a fourth.
EXPERTS = frozenset({"annot1", "annot2", "annot4"})
# One prompt for all dimensions, or one prompt per dimension.
MODES = ("combined", "individual")

Pair = tuple[str, str]
Row = Mapping[str, Any]
Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class RatedPair:
    """One pair as it was shown, with its votes per dimension in the order of `workers`.

    Attributes:
        topic: Id of the query.
        pair: The answer shown on the left and the answer shown on the right. Votes and gold refer to this
            order.
        workers: Ids of the five workers.
        votes: Dimension -> five votes.
        spam: Dimension -> five published spam probabilities.
        gold: Dimension -> published gold label.
    """

    topic: str
    pair: Pair
    workers: tuple[str, ...]
    votes: Mapping[str, tuple[Vote, ...]]
    spam: Mapping[str, tuple[float, ...]]
    gold: Mapping[str, Vote]


@dataclass(frozen=True, slots=True)
class Judged:
    """The labels that one person or model gave to one pair in one order.

    Attributes:
        topic: Id of the query.
        pair: The two answers in the order shown.
        by: Id of the worker or expert, or mode of the LLM.
        labels: Dimension -> label; a dimension without a label is left out.
    """

    topic: str
    pair: Pair
    by: str
    labels: Mapping[str, Vote]

    @property
    def unordered(self) -> Pair:
        """The pair in alphabetical order, whichever order it was shown in."""
        return in_order(self.pair)

    def label(self, dimension: str) -> Vote | None:
        """The label as if the pair had been shown in the order of `unordered`; None where it is missing."""
        return facing(self.labels.get(dimension), self.pair)


# (mode, pair in alphabetical order) -> verdicts.
Verdicts = dict[tuple[str, Pair], list[Judged]]


def in_order(pair: Pair) -> Pair:
    """A pair in alphabetical order."""
    return pair if pair[0] <= pair[1] else (pair[1], pair[0])


def facing(vote: Vote | None, pair: Pair) -> Vote | None:
    """A vote about a pair as shown, turned to the pair in alphabetical order; None stays None."""
    return vote if vote is None or pair == in_order(pair) else vote.swapped


def read_ratings(folder: Path) -> list[RatedPair]:
    """The pairs of ratings.jsonl.gz, in the order of the file.

    Raises:
        UnusableFile: Names the file, the line and the problem.
    """
    return list(rows_of(folder / "ratings.jsonl.gz", _rated))


def read_questionnaires(folder: Path) -> list[Judged]:
    """Every answer to every questionnaire, also where a pair has more than five.

    Raises:
        UnusableFile: As `read_ratings`.
    """
    return list(rows_of(folder / "raw_study2_responses.jsonl.gz", lambda row: _judged(row, "worker")))


def read_llm_ratings(folder: Path) -> list[Judged]:
    """The verdicts of the LLM, with the duplicates that retries left; see `without_retries`.

    Raises:
        UnusableFile: As `read_ratings`.
    """
    path = folder / "llm_ratings.jsonl.gz"
    return list(rows_of(path, lambda row: _judged(row, "inference", renamed=False)))


def read_experts(folder: Path) -> list[Judged]:
    """The answers of the three experts whose agreement is published.

    Raises:
        UnusableFile: As `read_ratings`.
    """
    path = folder / "raw_expert-response.jsonl.gz"
    (table,) = rows_of(path, lambda row: row)
    rows = ({name: table[name][index] for name in table} for index in table["prolific_pid"])
    return [_judged(row, "prolific_pid") for row in rows if row["prolific_pid"] in EXPERTS]


def read_grades(folder: Path) -> dict[str, dict[str, int]]:
    """Answer -> dimension -> grade 1 (worst) to 6 within its topic.

    Raises:
        UnusableFile: As `read_ratings`.
    """
    return dict(
        rows_of(
            folder / "grades.jsonl.gz",
            lambda row: (str(row["response"]), {name: int(row[name]) for name in DIMENSIONS}),
        )
    )


def without_retries(judged: Iterable[Judged]) -> Verdicts:
    """(mode, pair) -> the first two verdicts, one per order.

    A third or fourth verdict on a pair in one mode repeats one of the first two after a retry; it is no
    further opinion.
    """
    kept: dict[tuple[str, Pair], list[Judged]] = defaultdict(list)
    for verdict in judged:
        group = kept[verdict.by, verdict.unordered]
        if len(group) < 2:
            group.append(verdict)
    return dict(kept)


def _rated(row: Row) -> RatedPair:
    workers = tuple(row["worker"])
    votes = {name: tuple(_label(x) for x in row[f"{name}_vote"]) for name in DIMENSIONS}
    spam = {name: tuple(float(x) for x in row[f"{name}_spam_probability"]) for name in DIMENSIONS}
    if any(len(values) != len(workers) for table in (votes, spam) for values in table.values()):
        raise ValueError("not one vote and one spam probability per worker")
    return RatedPair(
        topic=str(row["query_id"]),
        pair=(str(row["response_a"]), str(row["response_b"])),
        workers=workers,
        votes=votes,
        spam=spam,
        gold={name: _label(row[f"{name}_gold"]) for name in DIMENSIONS},
    )


def _judged(row: Row, by: str, *, renamed: bool = True) -> Judged:
    columns = {name: _FIRST_NAME.get(name, name) if renamed else name for name in DIMENSIONS}
    present = {name: row[column] for name, column in columns.items() if row.get(column) is not None}
    return Judged(
        topic=str(row["query_id"]),
        pair=(str(row["response_a"]), str(row["response_b"])),
        by=str(row[by]),
        labels={name: _label(value) for name, value in present.items()},
    )


def _label(letter: object) -> Vote:
    """The vote of a label in upper or lower case.

    Raises:
        ValueError: The label is none of a, n and b.
    """
    label = _LETTER.get(letter.lower()) if isinstance(letter, str) else None
    if label is None:
        raise ValueError(f"{letter!r} is no label; expected one of a, n, b")
    return label


def rows_of(path: Path, parse: Callable[[Row], Parsed]) -> Iterator[Parsed]:
    """The rows of a gzipped JSONL file.

    Args:
        path: Path of the file.
        parse: Function that makes a value of each row.

    Raises:
        UnusableFile: Names the file, the line and the problem.
    """
    with opened_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            yield _parsed(f"{path}:{number}", line, parse)


def _parsed(where: str, line: str, parse: Callable[[Row], Parsed]) -> Parsed:
    try:
        return parse(json.loads(line))
    except KeyError as error:
        raise UnusableFile(f"{where}: {error.args[0]}: is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise UnusableFile(f"{where}: {error}") from error
