"""Evaluated battles as nuggetizer's files: evidence, nuggets, and the labels of each answer."""

from collections.abc import Iterator, Mapping
from typing import Any

from nuggetstream.domain.nugget import Support
from nuggetstream.files.formats.exporting import Export, View

_LABELS = {Support.SUPPORT, Support.PARTIAL_SUPPORT, Support.NOT_SUPPORT}


def scored(view: View) -> list[dict[str, Any]]:
    """The nuggets with their importance."""
    return [
        {"text": nugget["text"], "importance": nugget["importance"]} for nugget in view.get("nuggets") or ()
    ]


def _extended(view: View, side: str | None = None) -> list[dict[str, Any]]:
    """What nuggetizer has no fields for: grounding, contradictions, and the person who set a label."""
    return [
        ({"grounding": nugget["grounding"]} if nugget.get("grounding") else {})
        | (_extended_label(nugget.get(side) or {}) if side else {})
        for nugget in view.get("nuggets") or ()
    ]


def _extended_label(label: Mapping[str, Any]) -> dict[str, Any]:
    person = {"set_by": label["set_by"]} if label.get("set_by") else {}
    return person | ({"contradicted": True} if label.get("support") == Support.CONTRADICTION else {})


def assigned(view: View, side: str) -> list[dict[str, Any]] | None:
    """The nuggets with the labels of an answer; None unless every nugget has one."""
    nuggets = view.get("nuggets") or ()
    labels = [nugget.get(side) for nugget in nuggets]
    if not nuggets or None in labels:
        return None
    return [
        {"text": nugget["text"], "importance": nugget["importance"], "assignment": _label(label["support"])}
        for nugget, label in zip(nuggets, labels, strict=True)
        if label is not None
    ]


def _label(support: str) -> str:
    """A label that nuggetizer knows; another one, such as of a contradiction, is no support."""
    return support if support in _LABELS else Support.NOT_SUPPORT.value


def _pool(view: View) -> Iterator[Mapping[str, Any]]:
    if chunks := view.get("evidence"):
        candidates = [
            {"docid": chunk.get("chunk_id"), "score": chunk.get("score"), "doc": {"segment": chunk["text"]}}
            for chunk in chunks
        ]
        yield {"query": {"qid": view["id"], "text": view["query"]}, "candidates": candidates}


def _nugget_lists(view: View) -> Iterator[Mapping[str, Any]]:
    nuggets = [nugget | more for nugget, more in zip(scored(view), _extended(view), strict=True)]
    if nuggets:
        yield {"query": view["query"], "qid": view["id"], "nuggets": nuggets}


def _decision(view: View) -> Mapping[str, Any]:
    """What nuggetizer has no fields for: the tie threshold, or why the nuggets decide nothing."""
    if verdict := view.get("nugget_verdict"):
        return {"tie_threshold": verdict["tie_threshold"]}
    return {"undecided": view["undecided"]} if view.get("undecided") else {}


def _assignments(view: View) -> Iterator[Mapping[str, Any]]:
    for side in "ab":
        if (labelled := assigned(view, side)) is not None:
            text = view[side]["text"]
            yield {
                "query": view["query"],
                "qid": view["id"],
                "answer_text": text,
                "response_length": len(text.split()),
                "run_id": view[side]["system"],
                "nuggets": [
                    nugget | more for nugget, more in zip(labelled, _extended(view, side), strict=True)
                ],
                **_decision(view),
            }


_NO_NUGGETS = "battles without nuggets"
EXPORTS = [
    Export(
        name="nuggetizer-pool",
        title="nuggetizer pool",
        rows=_pool,
        kept="query (qid is the id of the battle), evidence by rank with scores",
        lost="all else; battles without evidence",
    ),
    Export(
        name="nuggetizer-nuggets",
        title="nuggetizer nuggets",
        rows=_nugget_lists,
        kept="query, nuggets with importance, and `grounding` where it is known",
        lost=f"all else; {_NO_NUGGETS}",
    ),
    Export(
        name="nuggetizer-assignments",
        title="nuggetizer assignments",
        rows=_assignments,
        kept="query, answers, nuggets with importance, label, `grounding`, `contradicted`, `set_by`, and "
        "`tie_threshold` or `undecided`",
        lost=f"all else; {_NO_NUGGETS} and answers without all labels",
    ),
]
"""The formats of this module."""
