"""Evaluators that give up on a battle, on both databases: their failures are open until they have graded."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleEvent, BattleFailed, BattleJudged
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.judgment import MemberVerdict
from nuggetstream.domain.lens import INDEPENDENT, JUDGED, Lens
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState, Branch
from nuggetstream.domain.slice import Slice
from services.rater.boards import Boards
from services.store.battles.battles import Battles, NewEvent
from services.store.battles.deletion import Deletions
from services.store.database import Database
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.work.failed import FailedBattles, FailureFilter
from services.store.work.pending import work
from services.wire.rating_queries import AgreementQuery
from tests import samples
from tests.samples import NOON
from tests.stored import WrittenOutcomes, pair_counts, restarted

OPEN = FailureFilter(stage=Stage.GRADER)


@pytest.fixture
async def battles(database: Database) -> Battles:
    battles = Battles(database)
    await battles.accept(samples.battle(), b"body", NOON)
    return battles


async def happens(battles: Battles, *events: BattleEvent) -> None:
    names = [type(event).__name__ for event in events]
    new = [
        NewEvent(f"{name}:{event.key}", name, event, f"arena.v1.{name}", b"body")
        for name, event in zip(names, events, strict=True)
    ]
    await battles.record_all(new, NOON)


def gave_up(evaluator: str) -> BattleFailed:
    failure = StageFailure(Stage.GRADER, Reason.LLM_REFUSED, "declined", 1, evaluator=evaluator)
    return BattleFailed(f"failed {evaluator}", "b1", "default", failure)


async def test_a_failure_is_open_until_its_evaluator_has_graded(battles: Battles, database: Database) -> None:
    failed = FailedBattles(database)
    await happens(battles, gave_up("answer_quality"), gave_up("language_quality"))
    found = await failed.select(OPEN, 10)
    assert {entry.failure.evaluator for entry in found} == {"answer_quality", "language_quality"}
    await happens(battles, samples.graded("answer_quality"))
    assert [entry.failure.evaluator for entry in await failed.select(OPEN, 10)] == ["language_quality"]
    await failed.discard("failed language_quality", NOON)
    assert await failed.select(OPEN, 10) == []


@pytest.mark.parametrize("together", [True, False], ids=["one transaction", "two"])
async def test_no_failure_undoes_grades(battles: Battles, database: Database, together: bool) -> None:
    events = [samples.graded("answer_quality"), gave_up("answer_quality")]
    for batch in [events] if together else [[event] for event in events]:
        await happens(battles, *batch)
    assert await FailedBattles(database).select(OPEN, 10) == []


async def test_a_deleted_battle_takes_the_states_of_its_evaluators_along(
    battles: Battles, database: Database
) -> None:
    await happens(battles, samples.graded(), samples.assigned(1, 1, of=1), samples.judged())
    await Deletions(database).delete("b1", NOON)
    async with database.reading() as tx:
        assert (await tx.execute(select(work))).all() == []


async def test_an_evaluator_neither_ends_nor_fails_nor_restarts_a_battle(
    battles: Battles, database: Database
) -> None:
    await happens(battles, samples.graded(), gave_up("language_quality"))
    row = await battles.get("b1")
    assert row is not None
    assert row.state is BattleState.RUNNING
    await happens(battles, samples.assigned(1, 1, of=1), samples.judged())
    row = await battles.get("b1")
    assert row is not None
    assert row.state is BattleState.SCORED
    assert await restarted(database, "b1") == {}


def additional(evaluator: str = "nugget_guided") -> BattleJudged:
    judged = samples.judged(evaluator=evaluator)
    return replace(judged, judgment=replace(judged.judgment, additional=True, guided=True))


async def test_an_additional_verdict_ends_no_branch_and_closes_the_failure_of_its_judge(
    database: Database,
) -> None:
    battles = Battles(database)
    await battles.accept(samples.battle(), b"body", NOON)
    await happens(battles, samples.assigned(1, 0, of=1), gave_up("nugget_guided"))
    assert len(await FailedBattles(database).select(OPEN, 10)) == 1
    await happens(battles, additional())
    assert await FailedBattles(database).select(OPEN, 10) == []
    row = await battles.get("b1")
    assert row is not None
    assert (row.state, row.judge_state) == (BattleState.RUNNING, Branch.PENDING)
    await happens(battles, samples.judged(Vote.A))
    row = await battles.get("b1")
    assert row is not None
    assert row.state is BattleState.SCORED


async def test_guided_verdicts_and_members_are_in_no_board_of_the_judge(database: Database) -> None:
    battles, outcomes = Battles(database), WrittenOutcomes(database)
    await battles.accept(samples.battle(), b"body", NOON)
    judged = samples.judged(Vote.A)
    member = MemberVerdict(name="x", model="x", winner=Vote.B, flipped=None)
    panel = replace(judged, judgment=replace(judged.judgment, members=(member,)))
    for event in (panel, additional(), samples.assigned(1, 0, of=1), samples.voted(Vote.A)):
        await outcomes.put_all(outcomes_of(event, NOON))
    counts = {lens: await outcomes.lens_counts("default", lens) for lens in Lens}
    one_each = dict.fromkeys(Lens, 1) | {Lens.GROUNDED: 0}
    assert {lens: found.outcomes for lens, found in counts.items()} == one_each
    of_judge = {lens: await outcomes.evaluators("default", lens) for lens in JUDGED}
    assert of_judge == {
        Lens.JUDGE: ["pairwise"],
        Lens.GUIDED: ["nugget_guided"],
        Lens.MEMBER: ["pairwise/x"],
    }
    chosen = await pair_counts(database, "default", Lens.MEMBER, Slice(evaluator="pairwise/x", tags=("t",)))
    assert chosen == []
    agreement = await Boards(outcomes, battles).agreement(AgreementQuery())
    assert {lens for pair in agreement.pairs for lens in (pair.first, pair.second)} == set(INDEPENDENT)
