"""Judge: does its verdict depend on the order of the answers, on their length, or on its own family?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.model_family import common_family, family_of
from nuggetstream.files.evaluated import BattleRow, JudgmentRow
from nuggetstream.files.results import Results
from nuggetstream.statistics.share import Share, share

_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How often systems of the judge's family win: by its own verdict, and by people's votes.

    Both are over the same battles: those in which one competes against a system that is not known to be of
    the family, and both the judge and people prefer an answer.
    """

    by_judge: Share
    by_people: Share


@dataclass(frozen=True, slots=True)
class Audit:
    """One judge.

    Attributes:
        evaluator: Name of the judge.
        model: Its model.
        received: All battles.
        judged: Battles with a verdict.
        flipped: Verdicts that changed with the order, of those asked in both orders.
        tied: Verdicts that are ties.
        first_shown: Single verdicts (one per order asked) that prefer the answer shown first, of those that
            prefer one. An unbiased judge asked in both orders is at one half.
        longer: Verdicts that prefer the longer answer, of those that prefer one of two unequal lengths.
        twice_as_long: Verdicts that prefer an answer at least twice as long, of those between two such.
        people_longer: As `longer`, for human votes in the same battles.
        own: None when no system of these battles is of the judge's family: not applicable.
        speaks: Whether it can speak for the lens of judges; not where it was shown the nuggets.
    """

    evaluator: str
    model: str
    received: int
    judged: int
    flipped: Share
    tied: Share
    first_shown: Share
    longer: Share
    twice_as_long: Share
    people_longer: Share
    own: SelfPreference | None
    speaks: bool = True


_Judged = tuple[BattleRow, JudgmentRow]


def compute_judge(results: Results) -> tuple[Audit, ...]:
    """One audit per judge and model; additional judges and those shown the nuggets come last."""
    judges = grouped(
        ((guided, judgment.additional, judgment.evaluator, judgment.model), (battle, judgment))
        for battle in results.battles
        for guided, judgments in ((False, battle.judgments), (True, battle.guided))
        for judgment in judgments
    )
    return tuple(
        _audit(
            f"{evaluator} (shown the nuggets)" if guided else evaluator,
            model,
            results.received,
            judged,
            speaks=not guided,
        )
        for (guided, _, evaluator, model), judged in sorted(judges.items(), key=itemgetter(0))
    )


def _audit(evaluator: str, model: str, received: int, judged: Sequence[_Judged], *, speaks: bool) -> Audit:
    judgments = [judgment for _, judgment in judged]
    twice = [judgment for judgment in judgments if judgment.flipped is not None]
    single = [
        verdict for judgment in judgments for verdict in judgment.verdicts if verdict.winner in _DECIDED
    ]
    return Audit(
        evaluator=evaluator,
        model=model,
        received=received,
        judged=len({battle.id for battle, _ in judged}),
        flipped=share(sum(judgment.flipped is True for judgment in twice), len(twice)),
        tied=share(sum(judgment.winner not in _DECIDED for judgment in judgments), len(judgments)),
        first_shown=share(
            sum(verdict.winner.value == verdict.first.value for verdict in single), len(single)
        ),
        longer=longer_wins((battle, judgment.winner) for battle, judgment in judged),
        twice_as_long=longer_wins(((battle, judgment.winner) for battle, judgment in judged), 2),
        people_longer=longer_wins((battle, battle.human_vote) for battle, _ in judged),
        own=self_preference(model, [(battle, judgment.winner) for battle, judgment in judged]),
        speaks=speaks,
    )


def longer_wins(votes: Iterable[tuple[BattleRow, Vote | None]], times: int = 1) -> Share:
    """Votes for the longer answer, of those that prefer one of two unequal lengths.

    Args:
        votes: Battles with their votes.
        times: How many times as long as the other the longer answer must be, at least.
    """
    lengths = ((vote, len(battle.a.text), len(battle.b.text)) for battle, vote in votes)
    counted = [
        (vote, a > b)
        for vote, a, b in lengths
        if vote in _DECIDED and a != b and max(a, b) >= times * min(a, b)
    ]
    return share(sum((vote is Vote.A) == a_is_longer for vote, a_is_longer in counted), len(counted))


def self_preference(model: str, votes: Iterable[tuple[BattleRow, Vote]]) -> SelfPreference | None:
    """How often systems of a model's family win; None when no system of these battles is of the family.

    Args:
        model: Name of the model behind the votes.
        votes: Battles with its votes.
    """
    family = common_family(model)

    def is_own(system: str) -> bool:
        return system == model or (family is not None and family_of(system) == family)

    own = [
        (Vote.A if is_own(battle.a.system) else Vote.B, verdict, battle.human_vote)
        for battle, verdict in votes
        if is_own(battle.a.system) != is_own(battle.b.system)
    ]
    if not own:
        return None
    decided = [(side, verdict, vote) for side, verdict, vote in own if {verdict, vote} <= {*_DECIDED}]
    return SelfPreference(
        by_judge=share(sum(side is verdict for side, verdict, _ in decided), len(decided)),
        by_people=share(sum(side is vote for side, _, vote in decided), len(decided)),
    )
