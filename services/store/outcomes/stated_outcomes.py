"""The outcomes that follow from an event: what it says about which answer is better.

BattleVoted     ->  the vote
BattleJudged    ->  the verdict, and those of the members of a panel
BattleAssigned  ->  the preference by all nuggets, and the one by grounded nuggets
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.disputes import disputed_by_labels
from nuggetstream.domain.event import BattleAssigned, BattleEvent, BattleJudged, BattleVoted, source_of
from nuggetstream.domain.judgment import Judgment, MemberVerdict, VoteProbabilities
from nuggetstream.domain.lens import Lens, member_of, source_of_judge
from nuggetstream.nuggets.grounded_preference import grounded_verdict
from nuggetstream.nuggets.preference import PreferenceProbability, preference_by_labels
from nuggetstream.nuggets.scores import counted, nugget_margin, preference, tie_threshold
from nuggetstream.nuggets.undecided import undecided
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.probabilities import Probabilities

_MODEL_CHARACTERS = 200


def outcomes_of(event: BattleEvent, now: datetime) -> Sequence[Outcome]:
    """The outcomes that an event states; none for an event that says nothing about which answer is better.

    Args:
        event: The event.
        now: Time of the decision, unless the event has its own.

    Raises:
        Unscorable: A nugget has no label.
    """
    source = source_of(event)
    return [] if source is None else list(_stated(event, source, now))


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
    """The outcome of a list that decides, and the one on its grounded nuggets, if it has any."""
    assignments = event.assignment_set.assignments
    listed = disputed_by_labels(event.nugget_list, assignments)
    if undecided(listed, assignments) is not None:
        return
    nuggets = counted(listed.nuggets)
    margin, threshold = nugget_margin(nuggets, assignments), tie_threshold(event.battle)
    winner, version = preference(margin, 0.0, threshold), listed.version
    outcome = _outcome(event.battle, source, Lens.NUGGET, winner, margin=margin, now=now)
    probabilities = _probabilities(preference_by_labels(nuggets, assignments, threshold))
    model = event.assignment_set.model[:_MODEL_CHARACTERS] or None
    yield replace(outcome, probabilities=probabilities, list_version=version, judge_model=model)
    grounded = grounded_verdict(nuggets, assignments, threshold)
    if grounded is not None:
        name, margin = Lens.GROUNDED, grounded.margin
        outcome = _outcome(event.battle, name.value, name, grounded.preference, margin=margin, now=now)
        probabilities = _probabilities(preference_by_labels(grounded.nuggets, assignments, threshold))
        yield replace(outcome, probabilities=probabilities, list_version=version)


def _of_judge(battle: Battle, source: str, judgment: Judgment, now: datetime) -> Iterator[Outcome]:
    """The outcome of a judge, and those of the members of a panel that did not abstain."""
    outcome = _outcome(battle, source, judgment.lens, judgment.winner, now=now)
    version, probabilities = judgment.list_version, _probabilities(judgment.probabilities)
    outcome = replace(outcome, probabilities=probabilities, list_version=version)
    yield outcome if judgment.members else _of_model(outcome, battle, judgment)
    for member in judgment.members:
        if member.winner is not None:
            source = source_of_judge(member_of(judgment.evaluator, member.name), Lens.MEMBER)
            outcome = _outcome(battle, source, Lens.MEMBER, member.winner, now=now)
            probabilities = _probabilities(member.probabilities)
            outcome = replace(outcome, probabilities=probabilities, list_version=version)
            yield _of_model(outcome, battle, member)


def _of_model(outcome: Outcome, battle: Battle, verdict: Judgment | MemberVerdict) -> Outcome:
    """The outcome of one model, with what a verdict may depend on beside the answers."""
    lengths = len(battle.a.text), len(battle.b.text)
    longer = (lengths[0] > lengths[1]) - (lengths[0] < lengths[1])
    if max(lengths) >= 2 * min(lengths):
        longer *= 2
    model = verdict.model[:_MODEL_CHARACTERS]
    return replace(outcome, judge_model=model, favoured=_favoured(verdict), longer=longer)


def _favoured(judgment: Judgment | MemberVerdict) -> int | None:
    """Which position a verdict that changes with the order favours: 1 the first, -1 the second, 0 neither."""
    if not judgment.flipped:
        return None if judgment.flipped is None else 0
    for verdict in judgment.verdicts:
        if verdict.winner in (Vote.A, Vote.B):
            return 1 if verdict.winner.value == verdict.first.value else -1
    return 0


def _probabilities(probabilities: PreferenceProbability | VoteProbabilities | None) -> Probabilities | None:
    return (
        None
        if probabilities is None
        else Probabilities.of(probabilities.a, probabilities.b, probabilities.tie)
    )


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
