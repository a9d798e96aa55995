"""Assignments of nuggetizer as evaluated battles: its nuggets and labels, our scores and preference.

    two answers to a query with the same nuggets ──> six scores each ──> preference, as in results.jsonl

What nuggetizer does not have is missing: votes, verdicts of judges, evidence, quotes and causes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from nuggetstream.domain.battle import Side
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.nugget import Grounding, Grounds, Importance, Nugget, Support
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.format import Source, lines_of
from nuggetstream.files.formats.labels import nuggets_of
from nuggetstream.files.formats.pairing import Answers
from nuggetstream.files.formats.row_fields import WrongRow
from nuggetstream.files.formats.rows import Row, shown
from nuggetstream.files.formats.runs import NUGGETIZER_ARENA, run_answer
from nuggetstream.nuggets.scores import counted, preference, score_answer, tie_threshold
from nuggetstream.nuggets.undecided import ALL_DISPUTED

_LABELS = [support.value for support in Support]
_NONE: Mapping[str, Any] = {
    "judgments": [],
    "human_vote": None,
    "evidence": [],
    "failures": [],
    "reference": {},
}

Labelled = list[dict[str, Any]]


def results_of(source: Source) -> Iterator[dict[str, Any] | BadLine]:
    """The battles of every two runs that answer a query, with their nuggets and labels, as results have them.

    A row with a label that is none is rejected, and so is a pair of answers whose nuggets differ.
    """
    answers, labelled = Answers(NUGGETIZER_ARENA), dict[tuple[str, str], Row]()

    def keep(row: Row) -> tuple[BadLine, ...]:
        answer = run_answer(row, {})
        answers.add(row.line, answer)
        _labelled(row), _decision(row)
        labelled[answer.topic, answer.system] = row
        return ()

    yield from (line for line in lines_of(source.rows(), keep) if isinstance(line, BadLine))
    for line in answers.battles(source):
        result = _result(line, labelled) if isinstance(line, BattleLine) else line
        if result is not None:
            yield result


def _labelled(row: Row) -> Labelled:
    nuggets = nuggets_of(row.value.get("nuggets"))
    for nugget in nuggets:
        if nugget.get("assignment") not in _LABELS:
            label = shown(nugget.get("assignment"))
            raise WrongRow(
                f"nuggets: {nugget['text']!r} has the assignment {label}; expected {', '.join(_LABELS)}"
            )
    if not nuggets:
        raise WrongRow("nuggets: is empty")
    return nuggets


def _decision(row: Row) -> tuple[float | None, str | None]:
    """The tie threshold, or why the nuggets decide nothing, as our exports have it; None in other files."""
    threshold, undecided = row.value.get("tie_threshold"), row.value.get("undecided")
    if threshold is not None and not (isinstance(threshold, int | float) and 0 <= threshold <= 1):
        raise WrongRow(f"tie_threshold: is {shown(threshold)}; expected a number from 0 to 1")
    if undecided is not None and not isinstance(undecided, str):
        raise WrongRow(f"undecided: is {shown(undecided)}; expected a sentence")
    return threshold, undecided


def _result(line: BattleLine, labelled: Mapping[tuple[str, str], Row]) -> dict[str, Any] | BadLine | None:
    battle = line.submission.to_core()
    topic = battle.tags[0].partition(":")[2]
    first, second = (labelled.get((topic, battle.answer(side).system)) for side in Side)
    if first is None or second is None:
        return None  # the row of an answer was rejected because of its labels
    a, b = _labelled(first), _labelled(second)
    threshold, undecided = _decision(first)
    if (threshold, undecided) != _decision(second):
        return BadLine(line.line, ("tie_threshold, undecided: differ between the two answers",))
    if [_fact(nugget) for nugget in a] != [_fact(nugget) for nugget in b]:
        return BadLine(line.line, (f"nuggets: differ from those of {battle.b.system!r} for the same query",))
    nuggets = [_nugget(topic, index, nugget) for index, nugget in enumerate(a)]
    undecided = undecided or (None if counted(nuggets) else ALL_DISPUTED)
    return {
        "id": battle.id,
        "arena": battle.arena,
        "query": battle.query,
        "tags": list(battle.tags),
        "a": {"system": battle.a.system, "text": battle.a.text, "sources": []},
        "b": {"system": battle.b.system, "text": battle.b.text, "sources": []},
        "nuggets": [
            {
                "id": nugget.id,
                "text": nugget.text,
                "importance": nugget.importance.value,
                "grounding": of_a.get("grounding"),
                "a": _label(of_a),
                "b": _label(of_b),
            }
            for nugget, of_a, of_b in zip(nuggets, a, b, strict=True)
        ],
        "nugget_verdict": None
        if undecided
        else _verdict(nuggets, (a, b), tie_threshold(battle) if threshold is None else threshold),
        "undecided": undecided,
        **_NONE,
    }


def _fact(nugget: Mapping[str, Any]) -> tuple[str, str, str | None]:
    return nugget["text"], nugget["importance"], nugget.get("grounding")


def _label(nugget: Mapping[str, Any]) -> dict[str, Any]:
    return {"support": _support(nugget), "cause": None, "set_by": nugget.get("set_by")}


def _support(nugget: Mapping[str, Any]) -> str:
    """The label of a nugget; our exports mark a contradiction, which nuggetizer knows as no support."""
    label: str = nugget["assignment"]
    contradicted = label == Support.NOT_SUPPORT and nugget.get("contradicted")
    return Support.CONTRADICTION.value if contradicted else label


def _nugget(topic: str, index: int, nugget: Mapping[str, Any]) -> Nugget:
    name = derived_id("nugget", topic, index, nugget["text"])
    stated = nugget.get("grounding")
    grounds = None if stated is None else Grounds(Grounding(stated))
    return Nugget(id=name, text=nugget["text"], importance=Importance(nugget["importance"]), grounds=grounds)


def _verdict(
    nuggets: Sequence[Nugget], labels: tuple[Labelled, Labelled], threshold: float
) -> dict[str, Any]:
    a, b = (
        score_answer(
            counted(nuggets),
            {nugget.id: Support(_support(given)) for nugget, given in zip(nuggets, of_answer, strict=True)},
        )
        for of_answer in labels
    )
    return {
        "a": asdict(a),
        "b": asdict(b),
        "margin": a.all_score - b.all_score,
        "tie_threshold": threshold,
        "preference": preference(a.all_score, b.all_score, threshold).value,
    }
