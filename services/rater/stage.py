"""The rater's handler and its wiring."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.event import BattleAssigned, BattleEvent, BattleJudged, BattleVoted, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.lens import Lens, source_of_judge
from nuggetstream.nuggets.scores import nugget_margin, preference, tie_threshold
from services.rater.announcer import Announcer
from services.runtime.errors import InvalidInput, Retryable, StageError
from services.runtime.grouping import Grouping
from services.runtime.stage import Stage
from services.store.battles import BattleRow, Battles
from services.store.blobs import Blobs
from services.store.outcome import Outcome
from services.store.outcomes import Outcomes
from services.wire.stages import event_stage

MAX_GROUP = 64  # outcomes in one transaction


@dataclass(slots=True)
class Rater:
    """Turns what was said about a battle into outcomes.

    An outcome counts only for a battle that was accepted, in its arena and between its systems. The gateway
    stores a battle before it publishes the first event, so every event of a battle finds its row. One that
    does not is not discarded: after a restored backup, the recorder may still have to store the battle again
    from its first event. The message is therefore retried for hours, and then goes to the dead letters.

    Attributes:
        battles: the battles that were accepted.
        outcomes: where they are kept.
        announcer: told which arenas have changed; it publishes at its own pace.
    """

    battles: Battles
    outcomes: Outcomes
    announcer: Announcer

    _put: Grouping[Outcome, StageError | None] = field(init=False)

    def __post_init__(self) -> None:
        self._put = Grouping(self._put_all, MAX_GROUP)

    async def __call__(self, event: BattleEvent) -> list[Event]:
        """Note one outcome; outcomes that arrive together share a transaction.

        Raises:
            Retryable: There is no such battle, yet or any more.
            InvalidInput: The event states no outcome, or one of another arena or of other systems.
        """
        outcome = outcome_of(event, datetime.now(UTC))
        problem = await self._put(outcome)
        if problem is not None:
            if await self.battles.deleted_at(outcome.battle_id) is not None:
                return []  # published before the battle was deleted
            raise problem
        self.announcer.changed(outcome.arena)
        return []

    async def _put_all(self, outcomes: Sequence[Outcome]) -> Sequence[StageError | None]:
        rows = await self.battles.get_all({outcome.battle_id for outcome in outcomes})
        problems = [_problem(outcome, rows.get(outcome.battle_id)) for outcome in outcomes]
        valid = [outcome for outcome, problem in zip(outcomes, problems, strict=True) if problem is None]
        await self.outcomes.put_all(valid)
        return problems


def _problem(outcome: Outcome, row: BattleRow | None) -> StageError | None:
    """Why an outcome does not count for a battle; None when it does."""
    if row is None:
        return Retryable(Reason.STORE_UNAVAILABLE, f"battle {outcome.battle_id!r} is not in the database")
    accepted = (row.arena, row.system_a, row.system_b)
    if (outcome.arena, outcome.system_a, outcome.system_b) != accepted:
        return InvalidInput(f"battle {row.id!r} was accepted with another arena or other systems")
    return None


def outcome_of(event: BattleEvent, now: datetime) -> Outcome:
    """The outcome an event states.

    Raises:
        InvalidInput: the event states none.
        Unscorable: a nugget has no label.
    """
    match event:
        case BattleVoted():
            return Outcome(
                battle_id=event.battle_id,
                source=Lens.HUMAN.value,
                lens=Lens.HUMAN,
                arena=event.arena,
                system_a=event.system_a,
                system_b=event.system_b,
                winner=event.vote,
                margin=None,
                decided_at=event.voted_at,
            )
        case BattleJudged():
            judgment = event.judgment
            source = source_of_judge(judgment.evaluator)
            return _outcome(event.battle, source, Lens.JUDGE, judgment.winner, now=now)
        case BattleAssigned():
            margin = nugget_margin(event.nugget_list.nuggets, event.assignment_set.assignments)
            winner = preference(margin, 0.0, tie_threshold(event.battle))
            return _outcome(event.battle, Lens.NUGGET.value, Lens.NUGGET, winner, margin=margin, now=now)
        case _:
            raise InvalidInput(f"{type(event).__name__} states no outcome")


def build(
    rater: Rater, blobs: Blobs, *, concurrency: int = MAX_GROUP, deadline: float = 30.0
) -> Stage[BattleEvent, Event]:
    """The rater as a stage."""
    return event_stage(StageName.RATER, rater, blobs, concurrency=concurrency, deadline=deadline)


def _outcome(
    battle: Battle, source: str, lens: Lens, winner: Vote, *, now: datetime, margin: float | None = None
) -> Outcome:
    return Outcome(
        battle_id=battle.id,
        source=source,
        lens=lens,
        arena=battle.arena,
        system_a=battle.a.system,
        system_b=battle.b.system,
        winner=winner,
        margin=margin,
        decided_at=now,
    )
