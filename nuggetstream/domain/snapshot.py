"""Everything known about one battle at one moment: its events folded into one value."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.disputes import disputed_by_labels
from nuggetstream.domain.evidence import Evidence, Page
from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.human_vote import common_vote
from nuggetstream.domain.judgment import Judgment
from nuggetstream.domain.nugget import Assignment, BankVersion, NuggetList

R = TypeVar("R", Judgment, Grading)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How the evidence of a battle was found; the fields are those of `BattleRetrieved`."""

    ranking: str
    variations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BattleSnapshot:
    """One battle with the newest result of every stage.

    Attributes:
        battle: The battle itself.
        pages: One page per source; empty until the scraper has finished.
        evidence: Retrieved chunks, best first.
        retrieval: How they were found; None until then.
        nugget_list: The list that the assignments label, else the newest list; None before there is one.
        assignments: The labels of exactly that list; None until the assigner has finished.
        label_model: Model that gave the labels; None until then.
        judgments: The newest judgment of each independent judge, sorted by its name.
        guided: The newest judgment of each judge that was shown the nuggets, sorted by its name.
        gradings: The newest grades of each evaluator, sorted by the evaluator's name.
        votes: The newest vote of each voter, in the order in which they voted first.
        failures: The newest failure of each stage and evaluator that gave up, oldest first.
    """

    battle: Battle
    pages: tuple[Page, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    retrieval: Retrieval | None = None
    nugget_list: NuggetList | None = None
    assignments: tuple[Assignment, ...] | None = None
    label_model: str | None = None
    judgments: tuple[Judgment, ...] = ()
    guided: tuple[Judgment, ...] = ()
    gradings: tuple[Grading, ...] = ()
    votes: tuple[events.BattleVoted, ...] = ()
    failures: tuple[StageFailure, ...] = ()

    @property
    def vote(self) -> Vote | None:
        """What people prefer: the vote of more than half of the voters, else a tie; None without votes."""
        return common_vote(vote.vote for vote in self.votes) if self.votes else None

    @property
    def bank(self) -> BankVersion | None:
        """The list of a nugget bank that the battle uses; None without nuggets, or with a list of its own."""
        return None if self.nugget_list is None else self.nugget_list.bank


def snapshot_of(battle: Battle, history: Iterable[events.BattleEvent]) -> BattleSnapshot:
    """Fold a battle's events into one snapshot.

    Args:
        battle: The battle as it was accepted.
        history: Its events in the order in which they were recorded.
    """
    snapshot = BattleSnapshot(battle=battle)
    for event in history:
        snapshot = _with(snapshot, event)
    return snapshot


def _replaces(labelled: NuggetList, snapshot: BattleSnapshot) -> bool:
    """Whether a labelled list is as new as the one that is known; labels of an older list can come late."""
    current = snapshot.nugget_list
    return current is None or snapshot.assignments is None or current.edit <= labelled.edit


def _with(snapshot: BattleSnapshot, event: events.BattleEvent) -> BattleSnapshot:  # noqa: PLR0911 - one per event
    match event:
        case events.BattleScraped() | events.BattleIndexed():
            return replace(snapshot, pages=event.pages)
        case events.BattleRetrieved():
            retrieval = Retrieval(event.ranking, event.variations)
            return replace(snapshot, pages=event.pages, evidence=event.evidence, retrieval=retrieval)
        case events.BattleNuggetized() if snapshot.assignments is None:
            return replace(snapshot, nugget_list=event.nugget_list)
        case events.BattleAssigned() if _replaces(event.nugget_list, snapshot):
            given = event.assignment_set
            return replace(
                snapshot,
                nugget_list=disputed_by_labels(event.nugget_list, given.assignments),
                assignments=given.assignments,
                label_model=given.model,
            )
        case events.BattleJudged(judgment=judgment):
            if judgment.guided:
                return replace(snapshot, guided=_newest(snapshot.guided, judgment))
            return replace(snapshot, judgments=_newest(snapshot.judgments, judgment))
        case events.BattleGraded(grading=grading):
            return replace(snapshot, gradings=_newest(snapshot.gradings, grading))
        case events.BattleVoted():
            return replace(snapshot, votes=_newest_votes(snapshot.votes, event))
        case events.BattleFailed(failure=failure):
            new = (failure.stage, failure.evaluator)
            others = [earlier for earlier in snapshot.failures if (earlier.stage, earlier.evaluator) != new]
            return replace(snapshot, failures=(*others, failure))
        case _:
            return snapshot


def _newest_votes(
    current: tuple[events.BattleVoted, ...], new: events.BattleVoted
) -> tuple[events.BattleVoted, ...]:
    by_voter = {vote.voter: vote for vote in current}
    before = by_voter.get(new.voter)
    if before is None or before.voted_at <= new.voted_at:
        by_voter[new.voter] = new
    return tuple(by_voter.values())


def _newest(current: tuple[R, ...], new: R) -> tuple[R, ...]:
    """The results with a newer one, sorted by the evaluator's name; one about an older list can come late."""
    by_name = {result.evaluator: result for result in current}
    before = by_name.get(new.evaluator)
    if before is None or (before.list_version or 1) <= (new.list_version or 1):
        by_name[new.evaluator] = new
    return tuple(by_name[name] for name in sorted(by_name))
