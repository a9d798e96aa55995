"""The whole fidelity table: families of rows, each computed in a process of its own, two at once."""

import importlib
import multiprocessing
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.extras import MissingExtra, extras_named
from nuggetstream.fidelity.row import Row

AT_ONCE = 2
_LONGEST_ERROR = 200


@dataclass(frozen=True, slots=True)
class FamilyOfRows:
    """A module with `ROWS`, which makes the rows of every id.

    Attributes:
        module: Its dotted name, imported in the family's own process.
        ids: Ids of the rows that it must return.
        files: Files that it reads, relative to the data folder.
    """

    module: str
    ids: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """All rows and how long they took, in seconds."""

    rows: tuple[Row, ...]
    seconds: float


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
        "nuggetstream.fidelity.crowd",
        ("F14", "F15", "F16", "F17", "F18", "F18b", "F19"),
        (
            "crowdrag25/ratings.jsonl.gz",
            "crowdrag25/llm_ratings.jsonl.gz",
            "crowdrag25/grades.jsonl.gz",
            "crowdrag25/battles.jsonl.gz",
            "crowdrag25/raw_expert-response.jsonl.gz",
            "crowdrag25/raw_study2_responses.jsonl.gz",
        ),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.rubric_leaderboards",
        ("F10", "F11", "F11b"),
        (
            "rubric/dl19-graded.jsonl.gz",
            "rubric/nist-2019qrels-pass.txt",
            *(f"rubric/phase3-qrels-dl19/{name}.qrel" for name in _PROMPT_CLASSES),
            "rubric/upstream/dl19_exam_cover_upstream.json",
        ),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.rubric_passages",
        ("F9", "F12", "F13"),
        (
            "rubric/dl19-graded.jsonl.gz",
            "rubric/dl19-exam-3.qrels",
            "rubric/upstream/dl19_bad_question.txt",
            "rubric/upstream/dl19_uncovered_passages.txt",
        ),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.ratings",
        ("F4", "F5", "F5b", "F6", "F6b"),
        (
            "lmsys_2024_08/votes.json",
            "lmsys_2024_08/official-scores.csv",
            "llmfao/crowd-comparisons.csv",
            "llmfao/gpt4-crowd-comparisons.csv",
            "llmfao/golden-ratings.csv",
        ),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.ragelo",
        ("F7", "F7b", "F8"),
        (
            "ragelo/paper_table5_win_percent.csv",
            "ragelo/paper_table6_elo.csv",
            "ragelo/pairwise_answers_evaluations.csv",
        ),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.aspects",
        ("F20", "F21", "F21b", "F22"),
        ("lfqa/mturk_ratings.jsonl", "lfqa/gpt4_ratings.jsonl", "lfqa/llama_ratings.jsonl"),
    ),
    FamilyOfRows(
        "nuggetstream.fidelity.search_arena", ("F1", "F2", "F3"), ("search_arena_nuggets/published.json",)
    ),
    FamilyOfRows("nuggetstream.fidelity.scores", ("F23",), ()),
)


def in_order(id_: str) -> tuple[int, str]:
    """Sort key of an id: F2 before F10, and F11b after F11.

    >>> sorted(["F11b", "F2", "F11"], key=in_order)
    ['F2', 'F11', 'F11b']
    """
    digits = id_.removeprefix("F").rstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits), id_


def missing_files(data: Path, families: Sequence[FamilyOfRows] = FAMILIES) -> list[str]:
    """Files that the families need and the folder lacks, each once, as paths relative to it."""
    needed = dict.fromkeys(file for family in families for file in family.files)
    return [file for file in needed if not (data / file).is_file()]


def collect(data: Path, families: Sequence[FamilyOfRows] = FAMILIES, at_once: int = AT_ONCE) -> Finished:
    """All rows, ordered by id.

    A family that cannot be imported, raises, dies or lacks a row yields failed rows that say so; the
    other families are not affected.

    Args:
        data: Folder of recorded data.
        families: Families whose rows to compute.
        at_once: Number of processes side by side.
    """
    begun = time.monotonic()
    with ThreadPoolExecutor(at_once) as threads:
        computed = list(threads.map(lambda family: _in_own_process(family, data), families))
    rows = sorted((row for family in computed for row in family), key=lambda row: in_order(row.id))
    return Finished(tuple(rows), time.monotonic() - begun)


def family_rows(family: FamilyOfRows, data: Path) -> list[Row]:
    """One family's rows in this process; a row that is missing is a failed row.

    An error fails the whole family: which of its rows would have passed is not known.
    """
    try:
        with extras_named():
            made = importlib.import_module(family.module).ROWS.values()
            rows: list[Row] = [row for make in made for row in make(data)]
    except MissingExtra as error:
        return _failed(family.ids, str(error))
    except Exception as error:
        return _failed(family.ids, f"{type(error).__name__}: {error}")
    computed = {row.id for row in rows}
    unexpected = sorted(computed - set(family.ids))
    missing = [id_ for id_ in family.ids if id_ not in computed]
    failures = _failed(missing, "not computed") + _failed(unexpected, f"not a row of {family.module}")
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
    """Run before numpy is loaded: families share the cores already, and more threads would only wait."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _failed(ids: Sequence[str], reason: str) -> list[Row]:
    short = " ".join(reason.split())[:_LONGEST_ERROR]
    return [
        Row(
            id=id_,
            basis=None,
            what="could not be computed",
            reference="",
            ours=short,
            tolerance="",
            passed=False,
        )
        for id_ in ids
    ]
