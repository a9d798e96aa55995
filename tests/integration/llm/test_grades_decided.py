"""Evaluators whose grades are choices, with a model that decides in each of the ways that endpoints have."""

from collections.abc import Sequence
from typing import Any

import pytest

from nuggetstream.domain.event import BattleAssigned, BattleGraded
from nuggetstream.domain.grade import Grade, SubjectKind
from services.judge.evaluator import Grades
from services.judge.grades.choices import DECISION
from services.judge.registry import EVALUATORS, heuristics
from services.offline.app import create_app
from services.offline.faults import Faults
from tests import samples
from tests.integration.llm.conftest import Connect
from tests.panels import panel_of

# `rubric` decides only when it verifies what it found, which is not its default.
DECIDED = sorted(
    name
    for name, evaluator in EVALUATORS.items()
    if name != "rubric"
    and any(task.endswith(DECISION) for task in evaluator.offline)
    and isinstance(evaluator.yields, Grades)
)
NATIVE, LOGPROBS, LETTERS = Faults(), Faults(decisions=False), Faults(decisions=False, logprobs=False)


async def texts_of(chunk_ids: Sequence[str]) -> dict[str, str]:
    return dict.fromkeys(chunk_ids, "Vital fact 1.")


async def items(connect: Connect, name: str, faults: Faults, *, decides: bool = True) -> list[Grade]:
    """The grades of single items; what is computed from them is left out."""
    model = connect(create_app(None, faults, heuristics)).model
    battle = samples.battle(a="Tea is passage number 1 [1].", urls_a=["https://example.org/1"])
    event: Any = samples.retrieved(3, fought=battle)
    if EVALUATORS[name].registered.reads is BattleAssigned:
        event = samples.assigned(1, 1, of=2, fought=battle, read=["chunk1"])
    grader = panel_of(name, model, decisions=model if decides else None, texts_of=texts_of)
    (found,) = await grader(event)
    assert isinstance(found, BattleGraded)
    computed = SubjectKind.ANSWER if name == "citation_support" else None
    return [grade for grade in found.grading.grades if grade.subject.kind is not computed]


def test_the_evaluators_whose_grades_are_choices_decide() -> None:
    assert DECIDED == [
        "citation_support", "direct", "manipulation", "nugget_entailment", "retrieval_relevance",
    ]  # fmt: skip


@pytest.mark.parametrize("faults", [NATIVE, LOGPROBS], ids=["decisions", "chat with logprobs"])
@pytest.mark.parametrize("name", DECIDED)
async def test_probabilities_and_the_expected_grade_are_kept(
    connect: Connect, name: str, faults: Faults
) -> None:
    grades = await items(connect, name, faults)
    assert grades
    yields = EVALUATORS[name].yields
    assert isinstance(yields, Grades)
    scales = {criterion.name: criterion for criterion in yields.criteria}
    for grade in grades:
        scale, values = scales[grade.criterion], [each.value for each in grade.probabilities]
        assert (min(values), max(values)) == (scale.low, scale.high)
        assert sum(each.probability for each in grade.probabilities) == pytest.approx(1)
        likeliest = max(grade.probabilities, key=lambda each: each.probability)
        assert (grade.value, grade.confidence) == (likeliest.value, likeliest.probability)
        assert grade.expected is not None
        assert min(values) <= grade.expected <= max(values)
        assert grade.reason is None


@pytest.mark.parametrize("name", DECIDED)
async def test_without_probabilities_the_confidence_is_unknown(connect: Connect, name: str) -> None:
    by_letter = await items(connect, name, LETTERS)
    assert {(g.confidence, g.probabilities, g.expected) for g in by_letter} == {(None, (), None)}
    by_chat = await items(connect, name, NATIVE, decides=False)
    assert {(g.confidence, g.probabilities, g.expected) for g in by_chat} == {(None, (), None)}
    assert [g.subject for g in by_chat] == [g.subject for g in by_letter]
    assert all(g.reason for g in by_chat)
    declined = await items(connect, name, Faults(declined=1.0))
    assert declined == by_chat
