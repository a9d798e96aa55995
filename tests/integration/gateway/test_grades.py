"""Grades in the API, on the page and in the event stream; an evaluator that failed grades again, alone."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleFailed, BattleGraded, BattleRetrieved
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.grade import (
    Criterion,
    Grade,
    GradeAggregation,
    Grading,
    MemberGrades,
    Subject,
    SubjectKind,
    ValueProbability,
)
from nuggetstream.domain.judgment import Aggregation, MemberVerdict
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState
from nuggetstream.domain.question_bank import BankKind, BankQuestion, QuestionBank
from services.wire.codec import decode
from tests.integration.gateway.world import Story, World, battle, submission


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(str(world.http.base_url)) as client:
        yield client


def gave_up(evaluator: str = "answer_quality") -> BattleFailed:
    failure = StageFailure(Stage.GRADER, Reason.LLM_REFUSED, "It declined.", evaluator=evaluator)
    return BattleFailed(f"failed {evaluator}", "tides", "demo", failure)


def graded() -> BattleGraded:
    criterion = Criterion("relevance", "0-2", 0.0, 2.0)
    of_chunk = Subject(SubjectKind.DOCUMENT, (Side.A,), "chunk0")
    of_nugget = Subject(SubjectKind.NUGGET, item="n2")
    told = (ValueProbability(0.0, 0.25), ValueProbability(2.0, 0.75))
    grades = (
        Grade(Subject.answer(Side.A), "relevance", 2.0, reason="It names both bulges."),
        Grade(of_chunk, "relevance", 0.0),
        Grade(of_nugget, "relevance", 2.0, confidence=0.75, probabilities=told),
    )
    grading = Grading("answer_quality", "offline-heuristic", "1", (criterion,), grades)
    return BattleGraded("graded", "tides", "demo", grading)


async def accepted(world: World) -> Story:
    await world.http.post("/v1/battles", json=submission())
    return Story(battle())


async def test_grades_are_in_the_api_with_their_scale_on_the_page_and_in_the_stream(
    world: World, client: AsyncClient
) -> None:
    story = await accepted(world)
    await world.happens(*story.told(), graded())
    (grading,) = (await client.battle("tides")).gradings
    assert (grading.evaluator, grading.model) == ("answer_quality", "offline-heuristic")
    answer, chunk, nugget = grading.grades
    assert (answer.subject, answer.sides, answer.value, answer.high) == ("answer", ["a"], 2.0, 2.0)
    assert (chunk.subject, chunk.document, chunk.value, chunk.reason) == ("document", "chunk0", 0.0, None)

    assert (nugget.subject, nugget.item, nugget.confidence, nugget.expected) == ("nugget", "n2", 0.75, 1.5)
    assert [(each.value, each.probability) for each in nugget.probabilities] == [(0.0, 0.25), (2.0, 0.75)]
    page = (await world.http.get("/battles/tides")).text
    section = page[page.index('id="grades"') :]
    for words in (
        "answer quality",
        "3 grades",
        "2 (0-2)",
        "It names both bulges.",
        "0 (0-2)",
        "none given",
        "75% sure, expected 1.50",
    ):
        assert words in section
    assert "The Earth turns beneath the bulges." in section
    assert '<a href="#chunk-1">chunk 1</a>' in section

    events = [event async for event in client.watch("tides")]
    found = [event.event for event in events if getattr(event, "name", "") == "graded"]
    assert [(event.kind, event.evaluator, event.grades) for event in found] == [
        ("graded", "answer_quality", 3)
    ]


async def test_the_questions_of_a_rubric_are_on_the_page_with_what_the_answers_say(
    world: World, client: AsyncClient
) -> None:
    story = await accepted(world)
    answered, coverage = Criterion("answered", "0-5", 0.0, 5.0), Criterion("coverage", "0-1", 0.0, 1.0)
    question = BankQuestion("q/1", "How many tides are there a day?")
    bank = QuestionBank(
        query_id="q",
        version=3,
        kind=BankKind.QUESTIONS,
        model="exam-writer",
        prompt_version="rubric-bank-1",
        created_at=datetime(2026, 5, 4, 12, tzinfo=UTC),
        questions=(question,),
    )
    grades = (
        Grade(Subject.answer(Side.A), "coverage", 1.0),
        Grade(replace(Subject.answer(Side.A), item="q/1"), "answered", 4.0, reason="Two, it says."),
        Grade(Subject(SubjectKind.DOCUMENT, (), "chunk0", item="q/1"), "answered", 0.0),
    )
    grading = Grading("rubric", "m", "rubric-1", (answered, coverage), grades, bank)
    await world.happens(*story.told(), BattleGraded("graded", "tides", "demo", grading))
    (shown,) = (await client.battle("tides")).gradings
    assert shown.bank is not None
    assert (shown.bank.version, shown.bank.model, shown.bank.kind) == (3, "exam-writer", "questions")
    assert [(each.id, each.text) for each in shown.bank.questions] == [("q/1", question.text)]
    page = (await world.http.get("/battles/tides")).text
    section = page[page.index('id="grades"') :]
    for words in (
        "1 question, version 3",
        "exam-writer",
        question.text,
        "4 (0-5)",
        "Two, it says.",
        "1 (0-1)",
    ):
        assert words in section
    assert f"chunk 1: {question.text}" in section


async def test_the_page_shows_what_each_member_of_a_panel_said_and_what_the_panel_left_open(
    world: World, client: AsyncClient
) -> None:
    story = await accepted(world)
    classes, harmful = Criterion("class", "a class"), Criterion("harmful", "0-10", 0.0, 10.0)
    query = Subject(SubjectKind.QUERY)
    one = Grade(query, "harmful", 3.0, reason="It may be <b>misused</b>.")
    members = (
        MemberGrades("local", "qwen", (one, Grade(query, "class", label="subjective"))),
        MemberGrades(
            "large", "gpt", (Grade(query, "harmful", 3.0), Grade(query, "class", label="ambiguous"))
        ),
        MemberGrades("third", "shy", abstention=Reason.CONTENT_FILTERED),
    )
    grading = Grading(
        evaluator="query_profile",
        model="qwen, gpt, shy",
        prompt_version="1",
        criteria=(classes, harmful),
        grades=(one,),
        members=members,
        aggregation=GradeAggregation.MAJORITY,
    )
    await world.happens(*story.told(), BattleGraded("graded", "tides", "demo", grading))
    (shown,) = (await client.battle("tides")).gradings
    assert (shown.aggregation, shown.abstentions) == ("majority", 1)
    assert [(m.name, len(m.grades), m.abstention) for m in shown.members] == [
        ("local", 2, None),
        ("large", 2, None),
        ("third", 0, "content_filtered"),
    ]
    page = (await world.http.get("/battles/tides")).text
    section = page[page.index('id="grades-query_profile"') :]
    for words in (
        "Panel of 3, by majority",
        "abstained (content filtered)",
        "no grade of the panel",
        "subjective",
        "It may be &lt;b&gt;misused&lt;/b&gt;.",
    ):
        assert words in section
    events = [event.event async for event in client.watch("tides")]
    counts = [(e.grades, e.members, e.abstentions) for e in events if e.kind == "graded"]
    assert counts == [(1, 3, 1)]


async def test_a_battle_without_evaluators_has_no_grades(world: World, client: AsyncClient) -> None:
    story = await accepted(world)
    await world.happens(*story.told())
    assert (await client.battle("tides")).gradings == []
    assert 'id="grades"' not in (await world.http.get("/battles/tides")).text


async def test_an_evaluator_that_failed_is_named_and_leaves_the_battle_scored(
    world: World, client: AsyncClient
) -> None:
    story = await accepted(world)
    await world.happens(*story.told(), gave_up())
    view = await client.battle("tides")
    assert view.state is BattleState.SCORED
    assert [(failure.stage, failure.evaluator) for failure in view.failures] == [("grader", "answer_quality")]
    assert not any("declined" in line for line in view.explanation)
    await world.happens(graded())
    assert (await client.battle("tides")).failures == []


async def test_a_retry_publishes_the_input_for_that_evaluator_alone(
    world: World, client: AsyncClient
) -> None:
    story = await accepted(world)
    await world.happens(*story.told(), gave_up(), gave_up("undeclared"))
    for _ in range(2):  # the second is recognised as the same
        assert (await client.act_on_failure("failed answer_quality", "retry")).result == "retried"
    state = (await world.bus.js.stream_info("ARENA", subjects_filter="arena.v1.grading.>")).state
    assert state.subjects == {"arena.v1.grading.answer_quality": 1}
    message = await world.bus.js.get_last_msg("ARENA", "arena.v1.grading.answer_quality")
    again = decode((message.headers or {})["schema"], message.data or b"")
    assert isinstance(again, BattleRetrieved)
    assert again.evidence == story.retrieved().evidence
    assert again.key != story.retrieved().key
    assert (await client.battle("tides")).state is BattleState.SCORED
    assert (await client.act_on_failure("failed undeclared", "retry")).result == "unchanged"
    await world.happens(graded())
    assert (await client.act_on_failure("failed answer_quality", "retry")).result == "unchanged"


async def test_guided_verdicts_and_panels_are_named_so_in_the_api_and_on_the_page(
    world: World, client: AsyncClient
) -> None:
    story = await accepted(world)
    single = story.judged()
    told = single.judgment.verdicts
    members = (
        MemberVerdict(name="one", model="one", winner=Vote.A, flipped=False, verdicts=told),
        MemberVerdict(name="two", model="two", winner=Vote.A, flipped=False, verdicts=told),
        MemberVerdict("three", "three", None, None, abstention=Reason.LLM_REFUSED),
    )
    panel = replace(
        single.judgment, members=members, verdicts=(), flipped=None, aggregation=Aggregation.MAJORITY
    )
    guided = replace(single.judgment, evaluator="nugget_guided", guided=True, additional=True)
    await world.happens(
        *story.told()[:-1],
        replace(single, judgment=panel),
        replace(single, key="guided", judgment=guided),
    )
    view = await client.battle("tides")
    (judgment,) = view.judgments
    assert (judgment.aggregation, judgment.abstentions, len(judgment.members)) == ("majority", 1, 3)
    assert (judgment.members[2].winner, judgment.members[2].abstention) == (None, "llm_refused")
    assert [said.evaluator for said in view.guided] == ["nugget_guided"]
    assert "The panel (pairwise, 2 of 3 members) agrees with the nuggets" in " ".join(view.explanation)
    assert view.state is BattleState.SCORED

    page = (await world.http.get("/battles/tides")).text
    for words in (
        "panel of 3, by majority",
        "1 abstention",
        "abstained (llm refused)",
        "Judge with nuggets",
        "so it does not confirm them",
        "What the judge with nuggets said",
        "pairwise/two: A shown first",
    ):
        assert words in page
