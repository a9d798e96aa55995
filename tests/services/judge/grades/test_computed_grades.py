"""What evaluators compute from the model's grades: the class of a query, the W-LLM score."""

from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.grade import Grading, Subject
from services.judge.grades import query_profile
from services.judge.grades.lines import GradeLine, GradesReply
from tests import samples
from tests.fakes import ScriptedModel
from tests.panels import panel_of


async def graded(name: str, **values: int) -> Grading:
    reply = GradesReply(grades=[GradeLine(name=each, value=value) for each, value in values.items()])
    model = ScriptedModel({name: lambda prompt: reply})
    event: Any = samples.retrieved(fought=samples.battle(b=""))
    (found,) = await panel_of(name, model)(event)
    assert isinstance(found, BattleGraded)
    return found.grading


PROPERTIES = [criterion.name for criterion in query_profile.PROPERTIES]


@pytest.mark.parametrize(
    ("high", "label"),
    [
        ({"subjective": 7}, "subjective"),
        ({"subjective": 9, "ambiguous": 9, "harmful": 8}, "ambiguous, subjective"),
        ({"subjective": 6}, None),
    ],
)
async def test_the_class_is_the_highest_property_from_seven_on(
    high: dict[str, int], label: str | None
) -> None:
    grading = await graded("query_profile", **(dict.fromkeys(PROPERTIES, 0) | high))
    labels = [grade.label for grade in grading.grades if grade.criterion == "class"]
    assert labels == ([] if label is None else [label])
    assert len(grading.grades) - len(labels) == 8


@pytest.mark.parametrize(
    ("declared", "query", "label", "reason"),
    [
        ("de-AT", "What is green tea made of?", "de-AT", "declared with the battle"),
        (
            None,
            "Woraus wird eigentlich grüner Tee gemacht?",
            "de",
            "detected in the query, without the model",
        ),
        (None, "Tee?", None, None),
    ],
)
async def test_the_profile_of_a_query_names_its_language_and_whether_it_was_detected(
    declared: str | None, query: str, label: str | None, reason: str | None
) -> None:
    reply = GradesReply(grades=[GradeLine(name=each, value=0) for each in PROPERTIES])
    model = ScriptedModel({"query_profile": lambda prompt: reply})
    battle = replace(samples.battle(), language=declared, query=query)
    (found,) = await panel_of("query_profile", model)(samples.retrieved(fought=battle))
    assert isinstance(found, BattleGraded)
    languages = [grade for grade in found.grading.grades if grade.criterion == "language"]
    assert [(g.label, g.reason) for g in languages] == ([(label, reason)] if label else [])
    assert [g.confidence is not None for g in languages] == ([declared is None] if label else [])


async def test_the_w_llm_score_is_computed_with_the_published_weights() -> None:
    grading = await graded("aspects", factuality=3, amount=0, formality=-1, acceptability=2)
    (score,) = [grade for grade in grading.grades if grade.criterion == "w_llm_score"]
    assert score.subject == Subject.answer(Side.A)
    assert score.value == pytest.approx(2.048 + 0.739)
    assert {grade.subject.sides for grade in grading.grades} == {(Side.A,)}
