"""The judge, audited: does it keep its mind, and what does it seem to like for the wrong reason?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.files.evaluated import BattleRow, JudgmentRow
from nuggetstream.report.rows import Results
from nuggetstream.statistics.share import Share, share

_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How often the judge's model wins as a system: by its own verdict, and by people's.

    Both over the same battles: those in which it competes against another system and both the
    judge and people prefer an answer.
    """

    by_judge: Share
    by_people: Share


@dataclass(frozen=True, slots=True)
class Audit:
    """One judge.

    Attributes:
        judged: battles with a verdict, of `received`.
        flipped: verdicts that changed with the order, of those asked in both.
        tied: verdicts that are ties.
        first_shown: single verdicts (one per order asked) that prefer the answer shown first, of those
            that prefer one. An even-handed judge asked both ways is at one half.
        longer: verdicts that prefer the longer answer, of those that prefer one of two unequal lengths.
        people_longer: the same for human votes in the same battles.
        own: None when the judge's model is no system of these battles: not applicable.
    """

    evaluator: str
    model: str
    received: int
    judged: int
    flipped: Share
    tied: Share
    first_shown: Share
    longer: Share
    people_longer: Share
    own: SelfPreference | None


_Judged = tuple[BattleRow, JudgmentRow]


def compute(results: Results) -> tuple[Audit, ...]:
    """One audit per judge and model."""
    judges: dict[tuple[str, str], list[_Judged]] = {}
    for row in results.rows:
        for judgment in row.judgments:
            judges.setdefault((judgment.evaluator, judgment.model), []).append((row, judgment))
    return tuple(_audit(*judge, results.received, pairs) for judge, pairs in judges.items())


def _audit(evaluator: str, model: str, received: int, pairs: Sequence[_Judged]) -> Audit:
    judgments = [judgment for _, judgment in pairs]
    twice = [judgment for judgment in judgments if judgment.flipped is not None]
    single = [v for judgment in judgments for v in judgment.verdicts if v.winner in _DECIDED]
    lengths = {id(row): (len(row.a.text), len(row.b.text)) for row, _ in pairs}
    return Audit(
        evaluator=evaluator,
        model=model,
        received=received,
        judged=len({row.id for row, _ in pairs}),
        flipped=share(sum(judgment.flipped is True for judgment in twice), len(twice)),
        tied=share(sum(judgment.winner not in _DECIDED for judgment in judgments), len(judgments)),
        first_shown=share(sum(v.winner.value == v.first.value for v in single), len(single)),
        longer=_longer((judgment.winner, *lengths[id(row)]) for row, judgment in pairs),
        people_longer=_longer((row.human_vote, *lengths[id(row)]) for row, _ in pairs),
        own=_own(model, pairs),
    )


def _longer(votes: Iterable[tuple[Vote | None, int, int]]) -> Share:
    counted = [(vote, a > b) for vote, a, b in votes if vote in _DECIDED and a != b]
    return share(sum((vote is Vote.A) == a_longer for vote, a_longer in counted), len(counted))


def _own(model: str, pairs: Sequence[_Judged]) -> SelfPreference | None:
    own = [
        (Vote.A if row.a.system == model else Vote.B, judgment.winner, row.human_vote)
        for row, judgment in pairs
        if (row.a.system == model) != (row.b.system == model)
    ]
    if not own:
        return None
    both = [each for each in own if each[1] in _DECIDED and each[2] in _DECIDED]
    return SelfPreference(
        share(sum(side is judge for side, judge, _ in both), len(both)),
        share(sum(side is human for side, _, human in both), len(both)),
    )
