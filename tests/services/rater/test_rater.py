"""Outcomes from events, boards from outcomes, and word of them at a calm pace."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeVar

import pytest
from structlog.testing import capture_logs

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleEvent, RatingsUpdated
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import AssignmentSet, Grounding, Grounds
from nuggetstream.domain.pipeline import Stage
from nuggetstream.nuggets.scores import Unscorable
from nuggetstream.ratings.fit import Fit, fitted
from nuggetstream.ratings.fitting.pairs import Places
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Votes
from nuggetstream.ratings.options import Intervals, Options
from services.rater.announcer import Announcer
from services.rater.boards import Boards
from services.rater.memory import Memory
from services.runtime.errors import Unavailable
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.stated_outcomes import outcomes_of
from services.wire.rating_queries import AdviceQuery, PairsQuery
from tests import samples
from tests.samples import NOON
from tests.stored import WrittenOutcomes

T = TypeVar("T")


def test_a_vote_is_what_a_human_says() -> None:
    outcome = outcomes_of(samples.voted(Vote.BOTH_BAD), NOON + timedelta(days=1))[0]
    assert (outcome.source, outcome.lens, outcome.winner) == ("human", Lens.HUMAN, Vote.BOTH_BAD)
    assert (outcome.system_a, outcome.system_b, outcome.margin) == ("left", "right", None)
    assert outcome.decided_at == NOON


def test_each_judge_is_a_source_of_its_own() -> None:
    outcome = outcomes_of(samples.judged(Vote.TIE, "strict"), NOON)[0]
    assert (outcome.source, outcome.lens, outcome.winner, outcome.margin) == (
        "judge:strict",
        Lens.JUDGE,
        Vote.TIE,
        None,
    )


@pytest.mark.parametrize(
    ("stated_a", "stated_b", "of", "urls", "winner"),
    [
        (57, 50, 100, ["u"], Vote.TIE),  # exactly 0.07
        (50, 57, 100, ["u"], Vote.TIE),
        (58, 50, 100, ["u"], Vote.A),
        (50, 58, 100, ["u"], Vote.B),
        (4, 3, 10, [], Vote.TIE),  # exactly 0.10
        (3, 4, 10, [], Vote.TIE),
        (58, 50, 100, [], Vote.TIE),
        (61, 50, 100, [], Vote.A),
        (0, 0, 5, [], Vote.TIE),
    ],
)
def test_nuggets_prefer_the_answer_that_states_clearly_more(
    stated_a: int, stated_b: int, of: int, urls: list[str], winner: Vote
) -> None:
    outcome = outcomes_of(samples.assigned(stated_a, stated_b, of, samples.battle(urls_b=urls)), NOON)[0]
    assert outcome.winner is winner
    assert outcome.margin == pytest.approx((stated_a - stated_b) / of)
    assert (outcome.source, outcome.lens, outcome.decided_at) == ("nugget", Lens.NUGGET, NOON)


def test_grounded_nuggets_have_an_outcome_of_their_own_beside_that_of_all() -> None:
    event = samples.assigned(2, 1, 3)
    assert [outcome.source for outcome in outcomes_of(event, NOON)] == ["nugget"]  # no nugget is grounded
    kinds = (Grounding.GROUNDED, Grounding.ANSWER_ONLY, Grounding.DISPUTED)
    nuggets = tuple(
        replace(nugget, grounds=Grounds(kind))
        for nugget, kind in zip(event.nugget_list.nuggets, kinds, strict=True)
    )
    listed = replace(event.nugget_list, nuggets=nuggets)
    every, grounded = outcomes_of(replace(event, nugget_list=listed), NOON)
    assert (every.lens, every.winner, every.margin) == (Lens.NUGGET, Vote.A, pytest.approx(1 / 2))
    assert (grounded.source, grounded.lens) == ("grounded", Lens.GROUNDED)
    assert (grounded.winner, grounded.margin) == (Vote.TIE, 0.0)  # both state the first nugget


def test_claims_that_only_one_answer_makes_are_no_outcome() -> None:
    event = samples.assigned(3, 0, 3)
    claims = [replace(nugget, grounds=Grounds(Grounding.ANSWER_ONLY)) for nugget in event.nugget_list.nuggets]
    assert (
        outcomes_of(replace(event, nugget_list=replace(event.nugget_list, nuggets=tuple(claims))), NOON) == []
    )


def test_a_missing_label_is_no_outcome() -> None:
    event = samples.assigned(1, 1, of=2)
    lost = AssignmentSet(event.assignment_set.assignments[:-1], "m", "1")
    with pytest.raises(Unscorable):
        outcomes_of(type(event)(event.key, event.battle, event.nugget_list, lost), NOON)[0]


@pytest.mark.parametrize("event", [samples.failed(Stage.JUDGE), samples.retrieved()])
def test_an_event_that_prefers_nobody_is_no_outcome(event: BattleEvent) -> None:
    assert outcomes_of(event, NOON) == []


async def keep(record: Database, *fights: tuple[str, str, Vote]) -> None:
    outcomes = WrittenOutcomes(record)
    for number, (name, evaluator, winner) in enumerate(fights):
        event = samples.judged(winner, evaluator, samples.battle(name))
        await outcomes.put(outcomes_of(event, NOON + timedelta(seconds=number))[0])


async def test_a_board_says_how_many_were_scored_of_how_many_received(record: Database) -> None:
    battles = Battles(record)
    for name in ("b1", "b2", "b3"):
        await battles.accept(samples.battle(name), b"", NOON)
    await keep(record, ("b1", "x", Vote.A), ("b1", "y", Vote.B), ("b2", "x", Vote.B))
    human, _, judge = await Boards(WrittenOutcomes(record), battles).get("default")
    assert [(b.lens, b.scored, b.received) for b in (human, judge)] == [
        (Lens.HUMAN, 0, 3),
        (Lens.JUDGE, 2, 3),
    ]
    assert human.standings == []
    assert {s.system for s in judge.standings} == {"left", "right"}


async def test_an_arena_nobody_heard_of_has_empty_boards(record: Database) -> None:
    boards = await Boards(WrittenOutcomes(record), Battles(record)).get("nowhere", [Lens.HUMAN])
    assert [(b.arena, b.scored, b.received, b.standings) for b in boards] == [("nowhere", 0, 0, [])]


async def test_a_board_is_computed_again_only_when_its_counts_change(record: Database) -> None:
    boards = Boards(WrittenOutcomes(record), Battles(record))
    await keep(record, ("b1", "x", Vote.A), ("b2", "x", Vote.B))
    (first,) = await boards.get("default", [Lens.JUDGE])
    (again,) = await boards.get("default", [Lens.JUDGE])
    assert all(one is other for one, other in zip(again.standings, first.standings, strict=True))
    await keep(record, ("b3", "x", Vote.A))
    (changed,) = await boards.get("default", [Lens.JUDGE])
    assert changed.standings != first.standings
    (fresh,) = await Boards(WrittenOutcomes(record), Battles(record)).get("default", [Lens.JUDGE])
    assert fresh.standings == changed.standings  # whichever rater computes it


async def test_a_board_and_its_pairs_share_one_fit_and_advice_has_its_own(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits: list[Options] = []

    def counting(votes: Votes, tally: Tally, group: Places, options: Options) -> Fit:
        fits.append(options)
        return fitted(votes, tally, group, options)

    monkeypatch.setattr("nuggetstream.ratings.model.fitted", counting)
    boards = Boards(WrittenOutcomes(record), Battles(record))
    await keep(record, ("b1", "x", Vote.A), ("b2", "x", Vote.B))
    (board,) = await boards.get("default", [Lens.JUDGE])
    pairs = await boards.pairs(PairsQuery(lens=Lens.JUDGE))
    await boards.advice(AdviceQuery(lens=Lens.JUDGE))
    assert pairs.systems == [standing.system for standing in board.standings]
    assert board.fragility is not None
    assert pairs.pairs
    assert fits == [boards.options, Options(intervals=Intervals.SANDWICH)]


class Meanwhile(Memory):
    """Before anything is computed, something else happens."""

    def __init__(self, happen: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self.happen = happen

    async def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        await self.happen()
        return await super().get(key, compute)


async def test_a_battle_that_arrives_meanwhile_is_in_every_number_of_a_board_or_in_none(
    record: Database,
) -> None:
    names = iter(("b3", "b4", "b5"))

    async def one_more() -> None:
        name = next(names)
        await Battles(record).accept(samples.battle(name), b"", NOON)
        await keep(record, (name, "x", Vote.A))

    for name, winner in (("b1", Vote.A), ("b2", Vote.B)):
        await Battles(record).accept(samples.battle(name), b"", NOON)
        await keep(record, (name, "x", winner))
    boards = Boards(WrittenOutcomes(record), Battles(record), memory=Meanwhile(one_more))
    found = await boards.get("default")
    assert [(board.outcomes, board.scored, board.received) for board in found] == [
        (0, 0, 2),
        (0, 0, 2),
        (2, 2, 2),
    ]


@dataclass
class Heard:
    """What was published, and a way to wait for it."""

    events: list[RatingsUpdated] = field(default_factory=list)
    more: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def publish(self, event: RatingsUpdated) -> None:
        async with self.more:
            self.events.append(event)
            self.more.notify_all()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(90), self.more:
            await self.more.wait_for(lambda: len(self.events) >= count)


@asynccontextmanager
async def running(announcer: Announcer) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(announcer.run(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(task, 90)


async def test_a_burst_is_announced_once_and_what_follows_when_it_stops(record: Database) -> None:
    heard = Heard()
    announcer = Announcer(WrittenOutcomes(record), heard.publish, pause=3600)
    async with running(announcer):
        for name in ("b1", "b2", "b3"):
            await keep(record, (name, "x", Vote.A))
            announcer.changed("default")
        await heard.until(1)
        counted = heard.events[0].outcomes
        assert 1 <= counted <= 3
        await keep(record, ("b1", "y", Vote.A))
        announcer.changed("default")  # within the pause: nothing is said yet
        assert len(heard.events) == 1
    assert [event.arena for event in heard.events] == ["default", "default"]
    assert heard.events[-1].outcomes == 4
    assert len({event.key for event in heard.events}) == 2


async def test_every_arena_is_announced_and_a_quiet_one_is_not(record: Database) -> None:
    heard = Heard()
    announcer = Announcer(WrittenOutcomes(record), heard.publish)
    announcer.changed("y")
    announcer.changed("x")
    announcer.changed("y")
    await announcer.announce()
    await announcer.announce()
    assert [event.arena for event in heard.events] == ["x", "y"]


async def test_announcements_go_on_after_the_pause(record: Database) -> None:
    heard = Heard()
    announcer = Announcer(WrittenOutcomes(record), heard.publish, pause=0.01)
    async with running(announcer):
        for count in (1, 2, 3):
            announcer.changed("x")
            await heard.until(count)


async def test_an_outage_is_told_once_when_it_begins_and_once_when_it_ends(record: Database) -> None:
    heard, away = Heard(), True

    async def publish(event: RatingsUpdated) -> None:
        if away:
            raise Unavailable(Reason.DEADLINE, "the broker does not answer")
        await heard.publish(event)

    announcer = Announcer(WrittenOutcomes(record), publish)
    announcer.changed("x")
    announcer.changed("y")
    with capture_logs() as said:
        for _ in range(3):
            await announcer.announce()
        away = False
        await announcer.announce()
    assert [line["event"] for line in said] == [
        "boards cannot be announced now",
        "boards are announced again",
    ]
    assert [event.arena for event in heard.events] == ["x", "y"]


async def test_stopping_with_nothing_to_say_says_nothing(record: Database) -> None:
    heard = Heard()
    async with running(Announcer(WrittenOutcomes(record), heard.publish)):
        pass
    assert heard.events == []
