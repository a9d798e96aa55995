"""What judges and people say about a battle beside its nuggets, in words."""

from collections.abc import Iterable

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.judgment import Judgment
from nuggetstream.domain.pipeline import PIPELINE, Stage
from nuggetstream.domain.snapshot import BattleSnapshot


def missing_scores(snapshot: BattleSnapshot) -> Iterable[str]:
    """Why there are no nugget scores, one line per stage that gave up."""
    for failure in snapshot.failures:
        if failure.stage in (Stage.JUDGE, Stage.GRADER):
            continue
        if failure.reason.is_finding:
            yield f"There are no nugget scores, because {_cause(failure)}"
        else:
            step = PIPELINE.get(failure.stage)
            title = step.title if step else failure.stage.value
            yield f"There are no nugget scores: {title} failed, because {_cause(failure)}"


def opinions(snapshot: BattleSnapshot, winner: Vote | None) -> Iterable[str]:
    """What judges and a person say, one line each.

    Args:
        snapshot: The battle.
        winner: What the nuggets say; None where they say nothing.
    """
    for judgment in snapshot.judgments:
        yield _verdict(judgment, winner)
    for judgment in snapshot.guided:
        yield f"The judge that was shown the nuggets ({judgment.evaluator}): {_PREFERS[judgment.winner]}."
    given = {judgment.evaluator for judgment in snapshot.judgments if not judgment.additional}
    for failure in snapshot.failures:
        if failure.stage is not Stage.JUDGE:
            continue
        if failure.evaluator is not None and failure.evaluator not in given:
            yield f"There is no verdict of the judge {failure.evaluator}, because {_cause(failure)}"
        elif failure.evaluator is None and not given:
            yield f"There is no verdict of the judge, because {_cause(failure)}"
    if snapshot.vote is not None:
        who = "The human vote"
        if (voters := len(snapshot.votes)) > 1:
            same = sum(vote.vote is snapshot.vote for vote in snapshot.votes)
            who = f"The majority of people ({same} of {voters})"
            if 2 * same <= voters:
                who = f"The vote of {voters} people, without a majority,"
        yield f"{who}{_agreement(snapshot.vote, winner)}: {_PREFERS[snapshot.vote]}."


_PREFERS = {
    Vote.A: "A is better",
    Vote.B: "B is better",
    Vote.TIE: "both are equally good",
    Vote.BOTH_BAD: "both are bad",
}


def _cause(failure: StageFailure) -> str:
    """Why a stage gave up, to the end of the sentence; what the texts contain is said by the detail alone."""
    detail = failure.detail.removesuffix(".")
    return f"{detail}." if failure.reason.is_finding else f"{failure.reason.words}: {detail}."


def _verdict(judgment: Judgment, winner: Vote | None) -> str:
    if judgment.flipped:
        parts = [f"{_PREFERS[v.winner]} when {v.first.value.upper()} comes first" for v in judgment.verdicts]
        return f"The judge ({judgment.evaluator}) flipped, which counts as a tie: {' and '.join(parts)}."
    orders = ", in both orders" if judgment.flipped is False else ""
    agreement, who = _agreement(judgment.winner, winner), f"The judge ({judgment.evaluator})"
    if judgment.members:
        voted = len(judgment.members) - judgment.abstentions
        who = f"The panel ({judgment.evaluator}, {voted} of {len(judgment.members)} members)"
    return f"{who}{agreement}: {_PREFERS[judgment.winner]}{orders}."


def _agreement(vote: Vote, winner: Vote | None) -> str:
    if winner is None:
        return ""
    # Nuggets cannot tell a good tie from a bad one.
    return " agrees with the nuggets" if vote.preference is winner else " disagrees with the nuggets"
