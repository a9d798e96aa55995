"""The rater's handler and its wiring."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.event import BattleAssigned, BattleEvent, BattleJudged, BattleVoted, Event, source_of
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.judgment import Judgment, MemberVerdict, VoteProbabilities
from nuggetstream.domain.lens import Lens, evaluator_of, member_of, source_of_judge
from nuggetstream.nuggets.grounded_preference import grounded_verdict
from nuggetstream.nuggets.preference import PreferenceProbability, preference_by_labels
from nuggetstream.nuggets.scores import nugget_margin, preference, tie_threshold
from services.rater.announcer import Announcer
from services.runtime import metrics
from services.runtime.errors import InvalidInput, Retryable, StageError
from services.runtime.grouping import Grouping
from services.runtime.stage import Stage
from services.store.battles import BattleRow, Battles
from services.store.blobs import Blobs
from services.store.outcome import Outcome, end_of_key
from services.store.outcomes import Outcomes
from services.store.probabilities import Probabilities
from services.wire.stages import event_stage

MAX_GROUP = 64  # outcomes in one transaction
_MODEL_CHARACTERS = 200


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

    _put: Grouping[Sequence[Outcome], StageError | None] = field(init=False)

    def __post_init__(self) -> None:
        self._put = Grouping(self._put_all, MAX_GROUP)

    async def __call__(self, event: BattleEvent) -> list[Event]:
        """Note the outcomes of an event; those that arrive together share a transaction.

        Raises:
            Retryable: There is no such battle, yet or any more.
            InvalidInput: The event states no outcome, or one of another arena or of other systems.
        """
        outcomes = outcomes_of(event, datetime.now(UTC))
        problem = await self._put(outcomes)
        if problem is not None:
            if await self.battles.deleted_at(outcomes[0].battle_id) is not None:
                return []  # published before the battle was deleted
            raise problem
        self.announcer.changed(outcomes[0].arena)
        for outcome in outcomes:
            _observe(outcome)
        return []

    async def _put_all(self, events: Sequence[Sequence[Outcome]]) -> Sequence[StageError | None]:
        rows = await self.battles.get_all({outcomes[0].battle_id for outcomes in events})
        problems = [_problem(outcomes[0], rows.get(outcomes[0].battle_id)) for outcomes in events]
        valid = [outcomes for outcomes, problem in zip(events, problems, strict=True) if problem is None]
        await self.outcomes.put_all([outcome for outcomes in valid for outcome in outcomes])
        return problems


def _problem(outcome: Outcome, row: BattleRow | None) -> StageError | None:
    """Why an outcome does not count for a battle; None when it does."""
    if row is None:
        return Retryable(Reason.STORE_UNAVAILABLE, f"battle {outcome.battle_id!r} is not in the database")
    accepted = (row.arena, row.system_a, row.system_b)
    if (outcome.arena, outcome.system_a, outcome.system_b) != accepted:
        return InvalidInput(f"battle {row.id!r} was accepted with another arena or other systems")
    return None


def outcomes_of(event: BattleEvent, now: datetime) -> Sequence[Outcome]:
    """The outcomes that an event states, at least one: that of a panel has one for each member, too.

    Raises:
        InvalidInput: the event states none.
        Unscorable: a nugget has no label.
    """
    source = source_of(event)
    if source is None:
        raise InvalidInput(f"{type(event).__name__} states no outcome")
    return [replace(each, event_key=end_of_key(event.key)) for each in _stated(event, source, now)]


def _stated(event: BattleEvent, source: str, now: datetime) -> Iterator[Outcome]:
    match event:
        case BattleVoted():
            yield Outcome(
                battle_id=event.battle_id,
                source=source,
                lens=Lens.HUMAN,
                arena=event.arena,
                system_a=event.system_a,
                system_b=event.system_b,
                winner=event.vote,
                margin=None,
                decided_at=event.voted_at,
            )
        case BattleJudged():
            yield from _of_judge(event.battle, source, event.judgment, now)
        case BattleAssigned():
            yield from _of_nuggets(event, source, now)


def _of_nuggets(event: BattleAssigned, source: str, now: datetime) -> Iterator[Outcome]:
    """The outcome of a list, and of the first list the one on its grounded nuggets, if it has any."""
    nuggets, assignments = event.nugget_list.nuggets, event.assignment_set.assignments
    margin, threshold = nugget_margin(nuggets, assignments), tie_threshold(event.battle)
    winner, version = preference(margin, 0.0, threshold), event.nugget_list.version
    lens = Lens.NUGGET if source == Lens.NUGGET.value else Lens.OTHER_NUGGET
    outcome = _outcome(event.battle, source, lens, winner, margin=margin, now=now)
    told = _probabilities(preference_by_labels(nuggets, assignments, threshold))
    model = event.assignment_set.model[:_MODEL_CHARACTERS] or None
    yield replace(outcome, probabilities=told, list_version=version, judge_model=model)
    grounded = grounded_verdict(nuggets, assignments, threshold)
    if lens is Lens.NUGGET and grounded is not None:
        name, margin = Lens.GROUNDED, grounded.margin
        outcome = _outcome(event.battle, name.value, name, grounded.preference, margin=margin, now=now)
        told = _probabilities(preference_by_labels(grounded.nuggets, assignments, threshold))
        yield replace(outcome, probabilities=told, list_version=version)


def _of_judge(battle: Battle, source: str, judgment: Judgment, now: datetime) -> Iterator[Outcome]:
    """The outcome of a judge, and those of the members of a panel that did not abstain."""
    outcome = _outcome(battle, source, judgment.lens, judgment.winner, now=now)
    version, told = judgment.list_version, _probabilities(judgment.probabilities)
    outcome = replace(outcome, probabilities=told, list_version=version)
    yield outcome if judgment.members else _of_model(outcome, battle, judgment)
    for member in judgment.members:
        if member.winner is not None:
            source = source_of_judge(member_of(judgment.evaluator, member.name), Lens.MEMBER)
            outcome = _outcome(battle, source, Lens.MEMBER, member.winner, now=now)
            told = _probabilities(member.probabilities)
            outcome = replace(outcome, probabilities=told, list_version=version)
            yield _of_model(outcome, battle, member)


def _observe(outcome: Outcome) -> None:
    """Count on what the verdict of a judge may depend beside the answers."""
    evaluator, model = evaluator_of(outcome.source), outcome.judge_model
    if evaluator is None or model is None:
        return
    if outcome.favoured is not None:
        favoured = ("neither", "first", "second")[outcome.favoured]
        metrics.JUDGE_POSITION.labels(evaluator, model, favoured).inc()
    if outcome.winner in (Vote.A, Vote.B) and outcome.longer:
        longer = (outcome.winner is Vote.A) == (outcome.longer > 0)
        metrics.JUDGE_LENGTH.labels(evaluator, model, "longer" if longer else "shorter").inc()


def _of_model(outcome: Outcome, battle: Battle, said: Judgment | MemberVerdict) -> Outcome:
    """The outcome of one model, with what a verdict may depend on beside the answers."""
    lengths = len(battle.a.text), len(battle.b.text)
    longer = (lengths[0] > lengths[1]) - (lengths[0] < lengths[1])
    if max(lengths) >= 2 * min(lengths):
        longer *= 2
    model = said.model[:_MODEL_CHARACTERS]
    return replace(outcome, judge_model=model, favoured=_favoured(said), longer=longer)


def _favoured(said: Judgment | MemberVerdict) -> int | None:
    """Which position a verdict that changes with the order favours: 1 the first, -1 the second, 0 neither."""
    if not said.flipped:
        return None if said.flipped is None else 0
    for verdict in said.verdicts:
        if verdict.winner in (Vote.A, Vote.B):
            return 1 if verdict.winner.value == verdict.first.value else -1
    return 0


def _probabilities(told: PreferenceProbability | VoteProbabilities | None) -> Probabilities | None:
    return None if told is None else Probabilities.of(told.a, told.b, told.tie)


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
