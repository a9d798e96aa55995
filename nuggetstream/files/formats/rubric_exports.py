"""Evaluated battles as the Rubric-Grading Workbench has them: graded passages, and banks of questions.

Answers and graded chunks are passages of a query, whose id is that of the battle.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nuggetstream.files.formats.exporting import Export, View

_ANSWERED = "answered"  # the criterion of the evaluator `rubric`
_CORRECT = 4  # the least grade that the workbench counts as a correct answer


def _graded(view: View) -> Iterator[str]:
    for grading in _gradings(view):
        passages = [
            _passage(name, text, grades, grading) for name, text, grades in _texts(view, grading) if grades
        ]
        if passages:
            yield json.dumps([view["id"], passages], ensure_ascii=False)


def _gradings(view: View) -> Iterator[Mapping[str, Any]]:
    """The grades on questions, of one evaluator: the workbench takes one set per passage."""
    gradings = (
        grading
        for grading in view.get("gradings") or ()
        if grading.get("bank") and any(grade["criterion"] == _ANSWERED for grade in grading["grades"])
    )
    first = next(gradings, None)
    if first is not None:
        yield first


def _texts(view: View, grading: Mapping[str, Any]) -> Iterator[tuple[str, str, Sequence[Mapping[str, Any]]]]:
    grades = [
        grade
        for grade in grading["grades"]
        if grade["criterion"] == _ANSWERED and grade.get("item") and grade.get("value") is not None
    ]
    for side in "ab":
        of_side = [
            graded for graded in grades if not graded.get("document") and graded.get("sides") == [side]
        ]
        yield f"{side}:{view[side]['system']}", view[side]["text"], of_side
    for chunk in view.get("evidence") or ():
        name = chunk.get("chunk_id")
        if name:
            yield name, chunk["text"], [graded for graded in grades if graded.get("document") == name]


def _passage(
    name: str, text: str, grades: Sequence[Mapping[str, Any]], grading: Mapping[str, Any]
) -> dict[str, Any]:
    bank = grading["bank"]
    kind = "nugget" if bank["kind"] == "nuggets" else "question"
    right = [grade["item"] for grade in grades if grade["value"] >= _CORRECT]
    return {
        "paragraph_id": name,
        "text": text,
        "paragraph": {},
        "paragraph_data": {"judgments": [], "rankings": []},
        "exam_grades": [
            {
                "correctAnswered": right,
                "wrongAnswered": [grade["item"] for grade in grades if grade["value"] < _CORRECT],
                "answers": [[grade["item"], grade.get("reason") or ""] for grade in grades],
                "llm": grading["model"],
                "llm_options": {},
                "exam_ratio": len(right) / len(grades),
                "prompt_info": {
                    "prompt_class": grading["evaluator"],
                    "prompt_version": grading["prompt_version"],
                },
                "self_ratings": [
                    {f"{kind}_id": grade["item"], "self_rating": round(grade["value"])} for grade in grades
                ],
            }
        ],
    }


def _bank(view: View) -> Iterator[Mapping[str, Any]]:
    for grading in _gradings(view):
        bank = grading["bank"]
        kind = "nugget" if bank["kind"] == "nuggets" else "question"
        yield {
            "query_id": view["id"],
            "query_text": view["query"],
            "info": {"gpt_model": bank.get("model"), "prompt_target": f"{kind}s"},
            "items": [
                {
                    "query_id": view["id"],
                    f"{kind}_id": question["id"],
                    f"{kind}_text": question["text"],
                }
                for question in bank["questions"]
            ],
        }


_NO_GRADES = "all else; battles without grades on questions"
EXPORTS = [
    Export(
        name="rubric",
        title="Rubric-Grading Workbench, graded passages",
        rows=_graded,
        kept="answers (side:system) and graded chunks as passages, with grades of the evaluator `rubric`",
        lost=_NO_GRADES,
    ),
    Export(
        name="rubric-bank",
        title="Rubric-Grading Workbench, questions or nuggets",
        rows=_bank,
        kept="query, questions or key facts of the evaluator `rubric`",
        lost=_NO_GRADES,
    ),
]
"""The formats of this module."""
