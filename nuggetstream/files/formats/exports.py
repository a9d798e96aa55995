"""The formats that are written: those of the modules below, and votes, runs and qrels.

arena_exports        search-arena, chatbot-arena, comparia
nuggetizer_exports   nuggetizer-pool, nuggetizer-nuggets, nuggetizer-assignments
answer_exports       trec-rag-2024 and -2025, ragdoll, ragdoll-judgments, and the four tables of RAGElo
votes                CSV of the preferences of one lens or all
verdicts             CSV of what judges said, by order and dimension
run, qrels           the ranking of the evidence, and its grades of relevance
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.files.dataset import OVERALL
from nuggetstream.files.formats import answer_exports, arena_exports, nuggetizer_exports
from nuggetstream.files.formats.exporting import Export, View
from nuggetstream.files.opening import UnusableFile

_RELEVANCE = "retrieval_relevance"  # the evaluator that grades retrieved documents
_TAG = "nuggetstream"
ALL = "all"
_CHOICES = {"a": "a", "b": "b", "tie": "n", "both_bad": "n"}
_VOTE_COLUMNS = ("battle_id", "arena", "system_a", "system_b", "winner", "lens", "source", "language", "time")


def _votes(lens: str) -> Any:
    def rows(view: View) -> Iterator[Mapping[str, Any]]:
        for name, source, winner in preferences_of(view):
            if winner is not None and lens in (ALL, name):
                yield {
                    "battle_id": view["id"],
                    "arena": view["arena"],
                    "system_a": view["a"]["system"],
                    "system_b": view["b"]["system"],
                    "winner": winner,
                    "lens": name,
                    "source": source,
                    "language": view.get("language"),
                    "time": view.get("received_at"),
                }

    return rows


def preferences_of(view: View) -> Iterator[tuple[str, str, str | None]]:
    """Lens, source and preference of people, nuggets and every judge; None where there is no preference."""
    yield Lens.HUMAN.value, "vote", view.get("human_vote")
    verdict = view.get("nugget_verdict")
    yield Lens.NUGGET.value, "nuggets", verdict["preference"] if verdict else None
    for judgment in view.get("judgments") or ():
        yield Lens.JUDGE.value, judgment["evaluator"], judgment["winner"]


def _verdicts(view: View) -> Iterator[Mapping[str, Any]]:
    """What each judge, or member of a panel, said in each order and dimension."""
    for judgment in view.get("judgments") or ():
        for judge in (judgment, *(judgment.get("members") or ())):
            name = judgment["evaluator"] + (f" {judge['name']}" if "name" in judge else "")
            for verdict in judge.get("verdicts") or ():
                sides = ("a", "b") if verdict["first"] == "a" else ("b", "a")
                overall = [{"dimension": OVERALL, "winner": verdict["winner"]}]
                for part in verdict.get("dimensions") or overall:
                    label = _CHOICES[part["winner"]]
                    yield {
                        "item": view["id"],
                        "worker": f"{name}, {sides[0]} first",
                        "dimension": part["dimension"],
                        "label": label,
                        "first": view[sides[0]]["system"],
                        "second": view[sides[1]]["system"],
                        "shown": dict(zip(sides, "ab", strict=True)).get(label, label),
                        "evaluator": name,
                    }


def _run(view: View) -> Iterator[str]:
    for rank, chunk in enumerate(view.get("evidence") or (), start=1):
        if chunk.get("chunk_id"):
            score = chunk.get("score")
            shown = 1 / rank if score is None else score
            yield f"{_field(view['id'])} Q0 {_field(chunk['chunk_id'])} {rank} {shown} {_TAG}"


def _qrels(view: View) -> Iterator[str]:
    for grading in view.get("gradings") or ():
        if grading["evaluator"] != _RELEVANCE:
            continue
        for grade in grading["grades"]:
            if grade.get("document") and grade.get("value") is not None:
                yield f"{_field(view['id'])} 0 {_field(grade['document'])} {round(grade['value'])}"


def _field(text: str) -> str:
    """A field between white space: white space inside of it is written as in URLs."""
    return re.sub(r"\s", lambda match: quote(match[0]), text)


_VOTES = Export(
    name="votes",
    title="votes",
    rows=_votes(Lens.HUMAN.value),
    kept="preferences of people, or with --lens of nuggets, judges or all",
    lost="all else; battles without a preference",
    columns=_VOTE_COLUMNS,
)
EXPORTS: list[Export] = [
    *arena_exports.EXPORTS,
    *nuggetizer_exports.EXPORTS,
    *answer_exports.EXPORTS,
    _VOTES,
    Export(
        name="verdicts",
        title="verdicts",
        rows=_verdicts,
        kept="what each judge said in each order and dimension, for `nuggetstream crowd`",
        lost="all else; battles without a verdict",
        columns=("item", "worker", "dimension", "label", "first", "second", "shown", "evaluator"),
    ),
    Export(
        name="run",
        title="TREC run",
        rows=_run,
        kept="id of the battle, ids of the evidence, rank, score; white space in ids becomes %20",
        lost="all else; battles without evidence",
    ),
    Export(
        name="qrels",
        title="TREC qrels",
        rows=_qrels,
        kept="id of the battle, document, grade of the evaluator `retrieval_relevance`",
        lost="all else; battles without such grades",
    ),
]
"""Every format that is written."""


def export_named(name: str, lens: str | None = None) -> Export:
    """The format that options call by this name.

    Args:
        name: Its name.
        lens: Whose votes: "human", "nugget", "judge" or "all"; only for votes.

    Raises:
        UnusableFile: There is no such format, or it has no votes of lenses.
    """
    export = next((independent for independent in EXPORTS if independent.name == name), None)
    if export is None:
        raise UnusableFile(
            f"there is no format {name!r}; there are {', '.join(other.name for other in EXPORTS)}"
        )
    if lens is None:
        return export
    if export.name != _VOTES.name:
        raise UnusableFile(f"--lens is for votes, and {export.title} has none")
    lenses = [ALL, *(independent.value for independent in INDEPENDENT)]
    if lens not in lenses:
        raise UnusableFile(f"there is no lens {lens!r}; there are {', '.join(lenses)}")
    return replace(export, rows=_votes(lens))
