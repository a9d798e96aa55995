"""A panel of an evaluator: what each member graded, what the panel's grade is, and what an abstention is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.grade import (
    Grade,
    GradeAggregation,
    Grading,
    Subject,
    SubjectKind,
    ValueProbability,
)
from services.judge.evaluator import Grades
from services.judge.grades.bank import QuestionsReply
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.grades.rubric import FoundReply
from services.judge.options import GradeOptions
from services.judge.pooled_grades import aggregate_grades
from services.judge.registry import EVALUATORS
from services.judge.stage import Panel
from services.runtime.errors import BudgetExceeded, ModelOutage, Permanent, Retryable
from services.wire.codec import decode, encode, schema_of
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import panel_of

MEDIAN, MAJORITY = GradeAggregation.MEDIAN, GradeAggregation.MAJORITY
QUALITY = ("relevance", "accuracy", "completeness", "precision")
EVENT = samples.retrieved(fought=samples.battle(b=""))
QUERY = Subject(SubjectKind.QUERY)
PROFILE = EVALUATORS["query_profile"].yields
assert isinstance(PROFILE, Grades)


def lines(values: Mapping[str, float]) -> GradesReply:
    return GradesReply(
        grades=[GradeLine(name=name, value=value, reason="") for name, value in values.items()]
    )


def gives(name: str, task: str, values: Mapping[str, float]) -> ScriptedModel:
    return ScriptedModel({task: lambda prompt: lines(values)}, name=name)


def quality(name: str, value: float) -> ScriptedModel:
    return gives(name, "answer_quality", dict.fromkeys(QUALITY, value))


def silent(error: Callable[[], Exception], task: str = "answer_quality") -> ScriptedModel:
    def reply(prompt: Any) -> GradesReply:
        raise error()

    return ScriptedModel({task: reply}, name="silent")


def declined() -> Exception:
    return Permanent(Reason.LLM_REFUSED, "declined")


def panel(*models: ScriptedModel, name: str = "answer_quality", **options: Any) -> Panel:
    return panel_of(name, *models, options=EVALUATORS[name].option_type().model_copy(update=options))


async def run(grader: Panel, event: Any = EVENT) -> Grading:
    (graded,) = await grader(event)
    assert isinstance(graded, BattleGraded)
    return graded.grading


def said(*values: float | None, label: Sequence[str | None] | None = None) -> list[list[Grade]]:
    labels = label or [None] * len(values)
    return [
        [Grade(QUERY, "harmful", value, word, reason=f"reason {number}")]
        for number, (value, word) in enumerate(zip(values, labels, strict=True))
    ]


async def test_every_member_grades_with_its_own_model_and_the_panel_has_the_median() -> None:
    models = [quality("one", 2), quality("two", 0), quality("three", 1)]
    grading = await run(panel(*models))
    assert [len(model.asked) for model in models] == [1, 1, 1]
    assert grading.model == "one, two, three"
    assert (grading.aggregation, grading.abstentions) == (MEDIAN, 0)
    assert [(m.name, m.model, m.abstention) for m in grading.members] == [
        ("m0", "one-2026", None),
        ("m1", "two-2026", None),
        ("m2", "three-2026", None),
    ]
    assert [[grade.value for grade in member.grades] for member in grading.members] == [
        [2.0] * 4,
        [0.0] * 4,
        [1.0] * 4,
    ]
    assert [(g.subject, g.criterion, g.value) for g in grading.grades] == [
        (Subject.answer(Side.A), name, 1.0) for name in QUALITY
    ]


async def test_a_single_model_has_no_members_and_the_key_that_it_had() -> None:
    grader = panel_of("answer_quality", quality("alone", 2))
    grading = await run(grader)
    assert (grading.members, grading.aggregation, grading.model) == ((), None, "alone-2026")
    (event,) = await grader(EVENT)
    assert isinstance(event, BattleGraded)
    assert decode(schema_of(BattleGraded), encode(event)) == event


@pytest.mark.parametrize(
    "error",
    [
        declined,
        lambda: Retryable(Reason.REPLY_UNUSABLE, "unusable"),
        lambda: Permanent(Reason.CONTENT_FILTERED, "filtered"),
        lambda: BudgetExceeded("used up"),
    ],
    ids=["declined", "unusable", "filtered", "over budget"],
)
async def test_an_abstention_is_counted_with_its_reason_and_is_no_zero(
    error: Callable[[], Exception],
) -> None:
    grader = panel(quality("one", 2), silent(error), quality("three", 2))
    (event,) = await grader(EVENT)
    assert isinstance(event, BattleGraded)
    grading = event.grading
    assert {grade.value for grade in grading.grades} == {2.0}
    assert grading.abstentions == 1
    member = grading.members[1]
    assert (member.grades, member.model) == ((), "silent")
    assert member.abstention is not None
    assert member.abstention.value in str(error())
    assert decode(schema_of(BattleGraded), encode(event)) == event


async def test_a_panel_of_which_half_abstains_gives_up_with_the_reason() -> None:
    with pytest.raises(Permanent, match="1 of 2 members of the panel abstained") as raised:
        await run(panel(quality("one", 2), silent(declined)))
    assert raised.value.reason is Reason.LLM_REFUSED


async def test_a_model_that_is_away_is_no_abstention() -> None:
    def away() -> Exception:
        return ModelOutage(Reason.LLM_UNAVAILABLE, "away", patience=60)

    with pytest.raises(ModelOutage):
        await run(panel(quality("one", 2), quality("two", 2), silent(away)))


@pytest.mark.parametrize(
    ("given", "wanted", "value"),
    [
        ((0, 1, 2), MEDIAN, 1),
        ((0, 2, 2), MEDIAN, 2),
        ((1, 2), MEDIAN, 1),  # of two in the middle the lower
        ((0, 1, 2, 2), MEDIAN, 1),
        ((0, 2, 2), MAJORITY, 2),
        ((0, 1, 2), MAJORITY, None),
        ((1, 2), MAJORITY, None),
    ],
)
def test_values_become_one_by_the_stated_rule(
    given: tuple[float, ...], wanted: GradeAggregation, value: float | None
) -> None:
    pooled = aggregate_grades(said(*given), len(given), wanted)
    assert [grade.value for grade in pooled] == ([] if value is None else [value])


def test_words_need_a_majority_and_the_reason_is_that_of_a_member_who_agrees() -> None:
    words = said(None, None, None, label=("de", "en", "en"))
    [pooled] = aggregate_grades(words, 3, MEDIAN)
    assert (pooled.value, pooled.label, pooled.reason) == (None, "en", "reason 1")
    assert aggregate_grades(said(None, None, label=("de", "en")), 2, MEDIAN) == ()


def test_a_value_with_two_words_has_the_more_frequent_one() -> None:
    words = said(0, 0, 0, label=("contradiction", "not_support", "not_support"))
    [pooled] = aggregate_grades(words, 3, MEDIAN)
    assert (pooled.value, pooled.label) == (0, "not_support")


def test_what_no_more_than_half_of_the_members_graded_has_no_grade_of_the_panel() -> None:
    two, other = said(1, 1), [Grade(QUERY, "subjective", 9)]
    assert len(aggregate_grades([*two, other], 3, MEDIAN)) == 1
    assert aggregate_grades([*two], 4, MEDIAN) == ()
    twice = [*two[0], *two[0]]
    assert aggregate_grades([twice], 3, MEDIAN) == ()  # one member does not count twice


def test_probabilities_are_the_mean_of_the_members_and_unknown_where_one_told_none() -> None:
    def told(value: float, one: float) -> list[Grade]:
        shares = (ValueProbability(0, 1 - one), ValueProbability(1, one))
        return [Grade(QUERY, "harmful", value, confidence=max(one, 1 - one), probabilities=shares)]

    [pooled] = aggregate_grades([told(1, 0.9), told(1, 0.7), told(0, 0.2)], 3, MEDIAN)
    assert (pooled.value, pooled.confidence) == (1, pytest.approx(0.6))
    assert pooled.expected == pytest.approx(0.6)
    [pooled] = aggregate_grades([told(1, 0.9), *said(1), told(0, 0.2)], 3, MEDIAN)
    assert (pooled.value, pooled.confidence, pooled.probabilities) == (1, None, ())


async def test_what_follows_from_grades_follows_from_those_of_the_panel() -> None:
    """The class of a query is that of the panel's properties, which no member need have given."""
    names = [c.name for c in PROFILE.criteria if c.high is not None]

    def profile(name: str, **high: float) -> ScriptedModel:
        return gives(name, "query_profile", dict.fromkeys(names, 0.0) | high)

    models = [
        profile("one", harmful=10, ambiguous=8),
        profile("two", subjective=10, ambiguous=8),
        profile("three", ambiguous=7),
    ]
    grading = await run(panel(*models, name="query_profile"))
    classes = [[g.label for g in m.grades if g.criterion == "class"] for m in grading.members]
    assert classes == [["harmful"], ["subjective"], ["ambiguous"]]
    assert [g.label for g in grading.grades if g.criterion == "class"] == ["ambiguous"]


async def test_members_of_a_rubric_are_asked_the_same_questions_of_the_first_that_writes_some() -> None:
    def asked(prompt: Any) -> QuestionsReply:
        return QuestionsReply(questions=["What is it?", "Why?"])

    def unwilling(prompt: Any) -> QuestionsReply:
        raise declined()

    def graded(value: float) -> Callable[[Any], FoundReply]:
        return lambda prompt: FoundReply(
            grades=[GradeLine(name=block.id, value=value) for block in blocks(prompt, "question")]
        )

    models = [
        ScriptedModel({"rubric_questions": unwilling, "rubric": graded(5)}, name="one"),
        ScriptedModel({"rubric_questions": asked, "rubric": graded(4)}, name="two"),
        ScriptedModel({"rubric_questions": asked, "rubric": graded(0)}, name="three"),
    ]
    grading = await run(panel(*models, name="rubric"))
    assert [model.tasks() for model in models] == [
        ["rubric_questions", "rubric"],
        ["rubric_questions", "rubric"],
        ["rubric"],
    ]
    assert grading.bank is not None
    assert grading.bank.model == "two-2026"
    coverage = [[g.value for g in m.grades if g.criterion == "coverage"] for m in grading.members]
    assert coverage == [[1.0], [1.0], [0.0]]
    assert [g.value for g in grading.grades] == [1.0, 4.0, 4.0]
    assert grading.abstentions == 0


async def test_members_and_rule_are_part_of_the_event_key() -> None:
    async def key(grader: Panel) -> str:
        (graded,) = await grader(EVENT)
        assert isinstance(graded, BattleGraded)
        return graded.key

    grader = panel(quality("one", 1), quality("two", 1))
    first = await key(grader)
    assert await key(grader) == first
    renamed = [replace(member, name=f"{member.name}x") for member in grader.members]
    other_rule = GradeOptions().model_copy(update={"aggregation": MAJORITY})
    others = {
        await key(replace(grader, options=other_rule)),
        await key(replace(grader, members=renamed)),
        await key(panel(quality("one", 1), quality("other", 1))),
    }
    assert len({first, *others}) == 4
