"""What an edit of a bank does to a graded file: grades on new questions alone, and the scores it changes.

graded file, edit  ->  passages of the queries with a new question  ->  grades on these questions
                   ->  the file after the edit, and every system's scores before and after
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from nuggetstream.domain.question_bank import BankKind, QuestionBank
from nuggetstream.files.grade_sets import SET, VERIFIED_SET
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.rubric import graded_lines, items_of_line, keys_of, passages_of, prompt_classes
from nuggetstream.rubric.bank_edit import BankChange, name_of, text_of
from nuggetstream.rubric.bank_scores import ScoreChanges, edited_lines, score_changes
from nuggetstream.rubric.covering import cover
from nuggetstream.rubric.graded import Graded, load_checked
from nuggetstream.rubric.pooling import PooledPassage
from services.cli.rubric.graded_run import STATE, play
from services.cli.rubric.grading import PassageRun
from services.cli.rubric.job import Job
from services.cli.rubric.passages import Passages, Ungraded, bank_of
from services.cli.wiring.process import read_settings
from services.judge.grades.rubric import RubricOptions
from services.runtime.llm.settings import LLMSettings

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """A graded file after an edit of its bank, which is not written yet.

    Attributes:
        lines: Its lines.
        scores: The scores of every system before and after.
        ungraded: Passages that have no grade on a new question.
    """

    lines: Sequence[tuple[str, list[Json]]]
    scores: ScoreChanges
    ungraded: Sequence[Ungraded]


async def regraded(
    file: Path,
    bank: Sequence[Json],
    changes: Sequence[BankChange],
    queries: Mapping[str, str],
    stop: asyncio.Event,
    *,
    per_question: bool,
    k: int,
    minimum: int,
) -> Regraded | None:
    """Grade new questions on the passages of a graded file, and compare the scores.

    Args:
        file: The graded file.
        bank: The lines of the bank after the edit.
        changes: What the edit changed.
        queries: Id -> text of queries whose text the bank lacks.
        stop: Ends the grading when set.
        per_question: Whether each question is asked in a call of its own.
        k: Depth of the top.
        minimum: Lowest grade at which a question counts as answered.

    Returns:
        The file after the edit; None when it was stopped.

    Raises:
        UnusableFile: The file cannot be used, or another model or another program graded it.
        NothingToCover: No item is graded.
    """
    graded, _ = load_checked(file)
    before, classes = cover(graded, k, minimum), prompt_classes(file)
    removed, asked = touched(changes)
    added: dict[tuple[str, str], list[Json]] = {}
    ungraded: Sequence[Ungraded] = ()
    if asked:
        if SET not in classes:
            raise UnusableFile(f"{file}: was not graded by `rubric grade`: grade the edited bank again")
        passages = _passages(graded, bank, asked, queries)
        verify = VERIFIED_SET in classes
        done = await _graded_on(passages, file.parent / STATE, stop, verify=verify, per_question=per_question)
        if done is None:
            return None
        added = {(p.query, p.id): done.record(p)["exam_grades"] for p in passages.pooled}
        ungraded = done.ungraded
    old_lines = graded_lines(file)
    _check_models(file, old_lines, added)
    lines = edited_lines(old_lines, removed, added)
    after = Graded.of(passages_of(lines, SET if SET in classes else None), str(file))
    return Regraded(lines=lines, scores=score_changes(before, cover(after, k, minimum)), ungraded=ungraded)


def touched(changes: Sequence[BankChange]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The questions whose grades are left out, and those that are to be graded, by query."""
    removed: dict[str, set[str]] = {}
    new: dict[str, set[str]] = {}
    for change in changes:
        if change.before is not None and change.before != change.after:
            removed.setdefault(change.query, set()).add(change.before)
            new.get(change.query, set()).discard(change.before)
        if change.after is not None and change.before != change.after:
            new.setdefault(change.query, set()).add(change.after)
    return removed, {query: names for query, names in new.items() if names}


def _passages(
    graded: Graded, bank: Sequence[Json], asked: Mapping[str, set[str]], queries: Mapping[str, str]
) -> Passages:
    """The graded passages of queries with new questions, and these questions alone."""
    banks: dict[str, QuestionBank] = {}
    keys: dict[str, dict[str, Sequence[str]]] = {}
    texts = dict(queries)
    for line in bank:
        query = str(line["query_id"])
        texts |= {query: str(line["query_text"])} if line.get("query_text") else {}
        items = [item for item in items_of_line(line) if name_of(item) in asked.get(query, ())]
        if items:
            kind = BankKind.QUESTIONS if "question_id" in items[0] else BankKind.NUGGETS
            questions = [(name_of(item), text_of(item)) for item in items]
            keys[query] = {name_of(item): right for item in items if (right := keys_of(item))}
            banks[query] = bank_of(query, kind, "", questions)
    own = [passage for passage in graded.passages if passage.query in banks]
    return Passages(
        pooled=[PooledPassage(p.query, p.passage, dict(p.ranks)) for p in own],
        queries=texts,
        texts={p.passage: p.text or "" for p in own},
        banks=banks,
        judgments={},
        keys=keys,
    )


async def _graded_on(
    passages: Passages, state: Path, stop: asyncio.Event, *, verify: bool, per_question: bool
) -> PassageRun | None:
    llm = read_settings(LLMSettings).for_stage("rubric")
    job = Job(
        passages=passages,
        evaluator="rubric",
        options=RubricOptions(passages=True, verify=verify, per_question=per_question),
        llm=llm.model_copy(update={"battle_tokens": None, "battle_money": None}),
        batched=False,
    )
    played = await play(job, state, Console(stderr=True), stop)
    return None if played is None else played[0]


def _check_models(
    file: Path, lines: Sequence[tuple[str, list[Json]]], added: Mapping[tuple[str, str], Sequence[Json]]
) -> None:
    """Check that the model that graded the file grades the new questions, too.

    Raises:
        UnusableFile: It does not.
    """
    before = _models(
        grades for _, passages in lines for p in passages for grades in p.get("exam_grades") or ()
    )
    now = _models(grades for sets in added.values() for grades in sets)
    if now and now != before:
        raise UnusableFile(
            f"{file}: was graded by {', '.join(sorted(before))}, and the settings name "
            f"{', '.join(sorted(now))}: set the same model, or grade the edited bank again"
        )


def _models(sets: Any) -> set[str]:
    return {
        str(grades.get("llm"))
        for grades in sets
        if str((grades.get("prompt_info") or {}).get("prompt_class")).startswith(SET)
    }
