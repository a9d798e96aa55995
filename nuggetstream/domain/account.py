"""What is known about one battle by now: its events folded into one value, the newest of each kind."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Battle
from nuggetstream.domain.evidence import Evidence, Page
from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.judgment import Judgment
from nuggetstream.domain.nugget import Assignment, NuggetList


@dataclass(frozen=True, slots=True)
class Account:
    """Everything said about one battle so far.

    Attributes:
        pages: what came of each source; empty until the scraper has looked.
        evidence: retrieved chunks, best first.
        nugget_list: the list the assignments belong to, else the newest; None until there is one.
        assignments: of exactly that list; None until the assigner has answered.
        judgments: the newest of each evaluator, by name.
        vote: the newest human vote.
        failures: of stages that gave up, oldest first.
    """

    battle: Battle
    pages: tuple[Page, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    nugget_list: NuggetList | None = None
    assignments: tuple[Assignment, ...] | None = None
    judgments: tuple[Judgment, ...] = ()
    vote: events.BattleVoted | None = None
    failures: tuple[StageFailure, ...] = ()


def account_of(battle: Battle, history: Iterable[events.BattleEvent]) -> Account:
    """Fold a battle's events, in the order they were recorded, into one account."""
    account = Account(battle)
    for event in history:
        account = _with(account, event)
    return account


def _with(account: Account, event: events.BattleEvent) -> Account:  # noqa: PLR0911 - one per event
    match event:
        case events.BattleScraped() | events.BattleIndexed():
            return replace(account, pages=event.pages)
        case events.BattleRetrieved():
            return replace(account, pages=event.pages, evidence=event.evidence)
        case events.BattleNuggetized() if account.assignments is None:
            return replace(account, nugget_list=event.nugget_list)
        case events.BattleAssigned():
            labels = event.assignment_set.assignments
            return replace(account, nugget_list=event.nugget_list, assignments=labels)
        case events.BattleJudged(judgment=judgment):
            known = {each.evaluator: each for each in account.judgments} | {judgment.evaluator: judgment}
            return replace(account, judgments=tuple(known[name] for name in sorted(known)))
        case events.BattleVoted() if account.vote is None or account.vote.voted_at <= event.voted_at:
            return replace(account, vote=event)
        case events.BattleFailed():
            return replace(account, failures=(*account.failures, event.failure))
        case _:
            return account
