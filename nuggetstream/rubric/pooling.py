"""The passages of runs that are to be graded, and their grades as lines of a graded file.

    runs              ->  pool           each query's passages down to a depth, with their ranks
    passage, grading  ->  graded_record  a passage of a line `[query id, [passage, …]]`

Several runs share a passage, which is graded once. A passage without a grading is written without grades, so
that it keeps its ranks and nobody takes it for one that answers nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from nuggetstream.domain.grade import Grade, Grading
from nuggetstream.files.grade_sets import KEY_SET, SET, VERIFIED_SET
from nuggetstream.rubric.answer_keys import states_key
from nuggetstream.rubric.exporting import exam_grades
from nuggetstream.rubric.retrieval import Ranking

Json = dict[str, Any]
_ANSWERED, _VERIFIED = "answered", "verified"  # criteria of the evaluator `rubric`


@dataclass(frozen=True, slots=True)
class PooledPassage:
    """A passage that runs return for a query.

    Attributes:
        query: Id of the query.
        id: Id of the passage.
        ranks: Its rank in each run that returns it, from 1.
    """

    query: str
    id: str
    ranks: dict[str, int] = field(default_factory=dict)


def pool(rankings: Mapping[str, Ranking], depth: int | None = None) -> list[PooledPassage]:
    """The passages of all runs, query by query, each in the order in which the runs name it first.

    Args:
        rankings: Run -> query -> passages, best first.
        depth: How many passages of a run are taken for a query; None takes all.

    >>> [(each.id, each.ranks) for each in pool({"x": {"q": ["a", "b"]}, "y": {"q": ["b", "c"]}}, 1)]
    [('a', {'x': 1}), ('b', {'y': 1})]
    """
    queries: dict[str, dict[str, PooledPassage]] = {}
    for run, ranking in rankings.items():
        for query, passages in ranking.items():
            pooled = queries.setdefault(query, {})
            for rank, name in enumerate(passages[:depth], 1):
                if name is not None:
                    pooled.setdefault(name, PooledPassage(query, name)).ranks[run] = rank
    return [passage for pooled in queries.values() for passage in pooled.values()]


def graded_record(
    passage: PooledPassage,
    text: str | None,
    grading: Grading | None,
    judgment: int | None = None,
    *,
    verified: bool = False,
    keys: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Json:
    """A passage as the autograding workbench has it.

    Args:
        passage: The passage.
        text: Its text; None where it is not known.
        grading: Its grades, of one evaluator; None where it could not be graded.
        judgment: Label of an assessor; None where there is none.
        verified: Whether the model was asked if what it found answers the questions. Then there is a second
            set, in which a grade is 0 where the model says that it does not.
        keys: Item -> right answers of a test. Where there are any, there is a set of these items, in which a
            grade is 0 where what was found states none of them.
    """
    about = {"paragraphId": passage.id, "query": passage.query, "titleQuery": passage.query}
    return {
        "paragraph_id": passage.id,
        "text": text,
        "paragraph": {},
        "paragraph_data": {
            "judgments": [] if judgment is None else [{**about, "relevance": judgment}],
            "rankings": [
                {"method": run, "queryId": passage.query, "rank": rank} for run, rank in passage.ranks.items()
            ],
        },
        "exam_grades": [] if grading is None else list(_on_items(grading, keys, verified=verified)),
        "grades": [] if grading is None else list(_direct(grading)),
    }


def _on_items(grading: Grading, keys: Mapping[str, Sequence[str]], *, verified: bool) -> Iterator[Json]:
    """The set of grades on the items of the bank, that of the verified ones, and that of those with keys."""
    if grading.bank is None:
        return
    given, is_answer = _by_item(grading, _ANSWERED), _by_item(grading, _VERIFIED)
    values = {item: int(grade.value) for item, grade in given.items() if grade.value is not None}
    replies = {item: grade.reason for item, grade in given.items() if grade.reason is not None}
    right = {item: grade.value > 0 for item, grade in is_answer.items() if grade.value is not None}
    stated = {item: states_key(reply, keys[item]) for item, reply in replies.items() if keys.get(item)}
    sets = {SET: values}
    if verified:
        sets[VERIFIED_SET] = _checked(values, right)
    if keys:
        sets[KEY_SET] = _checked({item: value for item, value in values.items() if keys.get(item)}, stated)
    for name, grades in sets.items():
        if grades:
            yield exam_grades(grading.bank.kind, grades, replies, _made(grading, name))


def _checked(values: Mapping[str, int], right: Mapping[str, bool]) -> dict[str, int]:
    """The grades of right findings, and 0 for wrong ones; without a finding only a 0 needs no check."""
    return {
        item: value if right.get(item) else 0 for item, value in values.items() if item in right or not value
    }


def _direct(grading: Grading) -> Iterator[Json]:
    """A set of grades per style of direct grading, which asks no questions."""
    for grade in grading.grades if grading.bank is None else ():
        if grade.value is not None:
            yield {
                "correctAnswered": grade.value > 0,
                "answer": grade.reason or "",
                "llm_options": {},
                "self_ratings": int(grade.value),
                **_made(grading, grade.criterion),
            }


def _by_item(grading: Grading, criterion: str) -> dict[str, Grade]:
    return {grade.subject.item or "": grade for grade in grading.grades if grade.criterion == criterion}


def _made(grading: Grading, name: str) -> Json:
    info = {"prompt_class": name, "prompt_version": grading.prompt_version, "is_self_rated": True}
    return {"llm": grading.model, "prompt_info": info}
