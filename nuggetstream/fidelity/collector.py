"""The whole fidelity table: every family of rows, computed side by side in processes of their own."""

import importlib
import multiprocessing
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.fidelity.row import Row

AT_ONCE = 2
_ERROR_LETTERS = 200


@dataclass(frozen=True, slots=True)
class FamilyOfRows:
    """A module with `rows(data) -> list[Row]`.

    Attributes:
        module: its dotted name, imported in the family's own process.
        ids: of the rows it owes.
        files: it reads, relative to the data folder.
    """

    module: str
    ids: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """One family's rows and how long they took, in seconds."""

    rows: tuple[Row, ...]
    seconds: float


def _ids(*numbers: int) -> tuple[str, ...]:
    return tuple(f"F{number}" for number in numbers)


_PROMPT_CLASSES = (
    "QuestionSelfRatedUnanswerablePromptWithChoices",
    "NuggetSelfRatedPrompt",
    "Thomas",
    "FagB",
    "FagB_few",
    "HELM",
    "Sun",
    "Sun_few",
)

# The slowest first, so that the others fill the time it takes.
FAMILIES = (
    FamilyOfRows(
        "nuggetstream.fidelity.agreement",
        _ids(1, 2, 3, 14, 15, 16, 17, 18, 19, 22),
        (
            "search_arena_nuggets/published.json",
            "crowdrag25/ratings.jsonl.gz",
            "crowdrag25/llm_ratings.jsonl.gz",
            "crowdrag25/grades.jsonl.gz",
            "crowdrag25/battles.jsonl.gz",
            "crowdrag25/raw_expert-response.jsonl.gz",
            "crowdrag25/raw_study2_responses.jsonl.gz",
            "lfqa/mturk_ratings.jsonl",
        ),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.ratings",
        _ids(4, 5, 6, 7),
        (
            "lmsys_2024_08/votes.json",
            "lmsys_2024_08/official-scores.csv",
            "ragelo/paper_table5_win_percent.csv",
            "ragelo/paper_table6_elo.csv",
            "llmfao/crowd-comparisons.csv",
            "llmfao/gpt4-crowd-comparisons.csv",
            "llmfao/golden-ratings.csv",
        ),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.rubric",
        _ids(8, 9, 10, 11, 12, 13),
        (
            "ragelo/pairwise_answers_evaluations.csv",
            "rubric/dl19-graded.jsonl.gz",
            "rubric/dl19-exam-3.qrels",
            "rubric/nist-2019qrels-pass.txt",
            *(f"rubric/phase3-qrels-dl19/{name}.qrel" for name in _PROMPT_CLASSES),
            "rubric/upstream/dl19_exam_cover_upstream.json",
            "rubric/upstream/dl19_bad_question.txt",
            "rubric/upstream/dl19_uncovered_passages.txt",
        ),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.aspects",
        _ids(20, 21),
        ("lfqa/mturk_ratings.jsonl", "lfqa/gpt4_ratings.jsonl", "lfqa/llama_ratings.jsonl"),
    ),
    FamilyOfRows("nuggetstream.fidelity.scores", _ids(23), ()),
)


def missing_files(data: Path, families: Sequence[FamilyOfRows] = FAMILIES) -> list[str]:
    """What the families need and the folder lacks, each once, as paths relative to it."""
    return [
        file
        for file in dict.fromkeys(f for one in families for f in one.files)
        if not (data / file).is_file()
    ]


def collect(data: Path, families: Sequence[FamilyOfRows] = FAMILIES, at_once: int = AT_ONCE) -> Finished:
    """All rows, ordered by id.

    A family that cannot be imported, raises, dies or owes a row yields failed rows that say so; the
    other families are not affected.

    Args:
        data: folder of recorded data.
        families: whose rows.
        at_once: processes side by side.
    """
    begun = time.monotonic()
    with ThreadPoolExecutor(at_once) as threads:
        found = list(threads.map(lambda family: _in_own_process(family, data), families))
    rows = sorted((row for family in found for row in family), key=lambda row: int(row.id.removeprefix("F")))
    return Finished(tuple(rows), time.monotonic() - begun)


def family_rows(family: FamilyOfRows, data: Path) -> list[Row]:
    """One family's rows in this process; whatever it lacks is a failed row.

    Rows that raise take the whole family with them: which of them would have passed is not known.
    """
    try:
        rows: list[Row] = list(importlib.import_module(family.module).rows(data))
    except Exception as error:
        return _failed(family.ids, f"{type(error).__name__}: {error}")
    there = {row.id for row in rows}
    strangers = sorted(there - set(family.ids))
    owed = [id_ for id_ in family.ids if id_ not in there]
    failures = _failed(owed, "not computed") + _failed(strangers, f"not a row of {family.module}")
    return rows + failures


def _in_own_process(family: FamilyOfRows, data: Path) -> list[Row]:
    # A pool of its own: a family that is killed breaks no other family's pool.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_one_thread) as pool:
        try:
            return pool.submit(family_rows, family, data).result()
        except Exception as error:
            return _failed(family.ids, f"{type(error).__name__}: {error}")


def _one_thread() -> None:
    """Before numpy is loaded: families already share the cores, and threads on top only wait in line."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _failed(ids: Sequence[str], reason: str) -> list[Row]:
    short = " ".join(reason.split())[:_ERROR_LETTERS]
    return [Row(id_, "could not be computed", "", short, "", passed=False) for id_ in ids]
