"""The files of CrowdRAG-25: what people and an LLM said about pairs of answers, in seven dimensions.

    ratings.jsonl.gz               five votes per shown pair, with published spam estimates and gold
    raw_study2_responses.jsonl.gz  every vote before it was cut to five; what the gold was learned from
    llm_ratings.jsonl.gz           verdicts of an LLM in two modes, both orders, some pairs twice
    grades.jsonl.gz                grade 1..6 of every answer within its topic
    raw_expert-response.jsonl.gz   three experts on 30 pairs

Who wrote an answer is worked out in `crowdrag_authors`.

Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025.
"""

import gzip
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.statistics.order_effects import swapped

DIMENSIONS = (
    "correctness_topical",
    "coherence_logical",
    "coherence_stylistic",
    "coverage_broad",
    "coverage_deep",
    "consistency_internal",
    "quality_overall",
)
# People had to decide overall: no "neither" there.
FORCED_CHOICE = frozenset({"quality_overall"})
ORDINAL = (Vote.A, Vote.TIE, Vote.B)
# The questionnaires asked for topical correctness under its first name.
_FIRST_NAME = {"correctness_topical": "validity"}
_LETTER = {"a": Vote.A, "n": Vote.TIE, "b": Vote.B}
# The published expert figures come from these three; a fourth set of answers is in the file.
EXPERTS = frozenset({"annot1", "annot2", "annot4"})
# All dimensions asked in one prompt, or one prompt each.
MODES = ("combined", "individual")

Pair = tuple[str, str]
Row = Mapping[str, Any]
Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class RatedPair:
    """One pair as it was shown, with its votes per dimension in the order of `workers`.

    Attributes:
        topic: id of the query.
        pair: the answer shown left, the one shown right. Votes and gold are about this order.
        workers: ids of the five.
        votes: dimension -> five votes.
        spam: dimension -> five published spam probabilities.
        gold: dimension -> published gold label.
    """

    topic: str
    pair: Pair
    workers: tuple[str, ...]
    votes: Mapping[str, tuple[Vote, ...]]
    spam: Mapping[str, tuple[float, ...]]
    gold: Mapping[str, Vote]


@dataclass(frozen=True, slots=True)
class Judged:
    """What one person or model said about one pair in one order.

    Attributes:
        topic: id of the query.
        pair: in the order shown.
        by: worker, expert, or mode of the LLM.
        labels: dimension -> label; a dimension nobody judged is not there.
    """

    topic: str
    pair: Pair
    by: str
    labels: Mapping[str, Vote]

    @property
    def unordered(self) -> Pair:
        """The pair whichever way round it was shown."""
        return in_order(self.pair)

    def label(self, dimension: str) -> Vote | None:
        """The label as if the pair had been shown in the order of `unordered`; None if missing."""
        return facing(self.labels.get(dimension), self.pair)


# (mode, pair in alphabetical order) -> verdicts.
Verdicts = dict[tuple[str, Pair], list[Judged]]


def in_order(pair: Pair) -> Pair:
    """A pair in alphabetical order."""
    return pair if pair[0] <= pair[1] else (pair[1], pair[0])


def facing(vote: Vote | None, pair: Pair) -> Vote | None:
    """A vote about a pair as shown, turned to the pair in alphabetical order; None stays None."""
    return vote if vote is None or pair == in_order(pair) else swapped(vote)


def read_ratings(folder: Path) -> list[RatedPair]:
    """The pairs of ratings.jsonl.gz, in the order of the file.

    Raises:
        UnusableFile: naming the file, the line and what is wrong with it.
    """
    return list(rows_of(folder / "ratings.jsonl.gz", _rated))


def read_questionnaires(folder: Path) -> list[Judged]:
    """Every answer to every questionnaire, before pairs asked twice were cut to five votes.

    Raises:
        UnusableFile: as `read_ratings`.
    """
    return list(rows_of(folder / "raw_study2_responses.jsonl.gz", lambda row: _judged(row, "worker")))


def read_llm_ratings(folder: Path) -> list[Judged]:
    """The verdicts of the LLM with the duplicates that a retry left: see `without_retries`.

    Raises:
        UnusableFile: as `read_ratings`.
    """
    path = folder / "llm_ratings.jsonl.gz"
    return list(rows_of(path, lambda row: _judged(row, "inference", renamed=False)))


def read_experts(folder: Path) -> list[Judged]:
    """The answers of the three experts whose agreement is published.

    Raises:
        UnusableFile: as `read_ratings`.
    """
    path = folder / "raw_expert-response.jsonl.gz"
    (table,) = rows_of(path, lambda row: row)
    rows = ({name: table[name][index] for name in table} for index in table["prolific_pid"])
    return [_judged(row, "prolific_pid") for row in rows if row["prolific_pid"] in EXPERTS]


def read_grades(folder: Path) -> dict[str, dict[str, int]]:
    """Answer -> dimension -> grade 1 (worst) to 6 within its topic.

    Raises:
        UnusableFile: as `read_ratings`.
    """
    return dict(
        rows_of(
            folder / "grades.jsonl.gz",
            lambda row: (str(row["response"]), {name: int(row[name]) for name in DIMENSIONS}),
        )
    )


def without_retries(judged: Iterable[Judged]) -> Verdicts:
    """(mode, pair) -> the first two verdicts, one per order; a retry repeated some of them.

    A third verdict on a pair in one mode is the first two asked again, not another opinion.
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
    if any(len(row_of) != len(workers) for table in (votes, spam) for row_of in table.values()):
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
    """A label in upper or lower case.

    Raises:
        ValueError: any other value.
    """
    label = _LETTER.get(letter.lower()) if isinstance(letter, str) else None
    if label is None:
        raise ValueError(f"{letter!r} is no label; expected one of a, n, b")
    return label


def rows_of(path: Path, parse: Callable[[Row], Parsed]) -> Iterator[Parsed]:
    """The rows of a file, each as `parse` makes it.

    Raises:
        UnusableFile: naming the file, the line and what is wrong with it.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield _parsed(f"{path}:{number}", line, parse)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise UnusableFile(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _parsed(where: str, line: str, parse: Callable[[Row], Parsed]) -> Parsed:
    try:
        return parse(json.loads(line))
    except KeyError as error:
        raise UnusableFile(f"{where}: {error.args[0]}: is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise UnusableFile(f"{where}: {error}") from error
