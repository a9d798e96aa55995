"""Calibration: of the verdicts that a scorer calls 80% probable, do people share four fifths?

Scorers with probabilities are judges, members of their panels, and the nuggets with the labels of one model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.judgment import VoteProbabilities
from nuggetstream.domain.nugget import Assignment, Nugget
from nuggetstream.files.evaluated import BattleRow, NuggetRow
from nuggetstream.files.results import Results
from nuggetstream.nuggets.preference import PreferenceProbability, preference_by_labels
from nuggetstream.nuggets.tie_band import TieBand, tie_band
from nuggetstream.report.numbers.certainty import compute_certainty
from nuggetstream.statistics.calibration import Calibration, calibration

_CLASSES = (Vote.A, Vote.TIE, Vote.B)
NUGGETS = "nuggets"
RESAMPLED = "nuggets, resampled"


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """The probabilities of one judge, or of the nuggets, against one human dimension.

    Attributes:
        evaluator: Name of the judge; of a member of its panel "PANEL/MEMBER", of the nuggets "nuggets", and
            of those of a further nuggetizer "nuggets of NAME".
        model: Its model; of the nuggets the one that labelled them.
        dimension: Name of the human dimension; "both bad" counts as a tie.
        told: Verdicts with probabilities.
        judged: All its verdicts.
        calibration: Over the battles with probabilities and a human preference.
        band: The tie band that people's preferences choose; None where they choose none, and for the nuggets.
    """

    evaluator: str
    model: str
    dimension: str
    told: int
    judged: int
    calibration: Calibration
    band: TieBand | None


_Verdict = tuple[Mapping[str, Vote], Vote, VoteProbabilities | None]


def compute_calibration(results: Results) -> tuple[JudgeCalibration, ...]:
    """One comparison per scorer, model and human dimension; scorers without probabilities are left out."""
    scorers = grouped(
        (scorer, (battle.preferences, preference, shares))
        for battle in results.battles
        for scorer, preference, shares in (*_by_judges(battle), *_by_nuggets(battle))
    )
    return tuple(
        _of(evaluator, model, dimension, verdicts)
        for (evaluator, model), verdicts in scorers.items()
        for dimension in results.dimensions
        if any(told is not None for _, _, told in verdicts)
    )


def resampled_nuggets(results: Results) -> tuple[JudgeCalibration, ...]:
    """The nuggets with the probabilities of A, tie and B when a battle's nuggets are resampled.

    They tell how clear the difference of the scores is, also where labels have no probabilities.
    """
    certainties = {one.battle_id: one for one in compute_certainty(results).battles}
    verdicts = grouped(
        (
            battle.label_model or "unknown",
            (battle.preferences, verdict.preference, _row(certainties.get(battle.id))),
        )
        for battle in results.battles
        if (verdict := battle.nugget_verdict) is not None
    )
    return tuple(
        _of(RESAMPLED, model, dimension, own)
        for model, own in verdicts.items()
        for dimension in results.dimensions
    )


_Said = tuple[tuple[str, str], Vote, VoteProbabilities | None]


def _by_judges(battle: BattleRow) -> Iterator[_Said]:
    """What each judge said, those that were shown the nuggets named so, and each member of a panel."""
    for judgments, suffix in ((battle.judgments, ""), (battle.guided, " (shown the nuggets)")):
        for judgment in judgments:
            name = f"{judgment.evaluator}{suffix}"
            yield (name, judgment.model), judgment.winner, judgment.probabilities
            for member in judgment.members:
                if member.winner is not None:
                    own = f"{judgment.evaluator}/{member.name}{suffix}"
                    yield (own, member.model or member.name), member.winner, member.probabilities


def _by_nuggets(battle: BattleRow) -> Iterator[_Said]:
    """What the nuggets say, with the probabilities that follow from those of their labels."""
    model = battle.label_model or "unknown"
    if (verdict := battle.nugget_verdict) is not None and battle.counted:
        preference, shares = verdict.preference, _of_labels(battle.counted, verdict.tie_threshold)
        yield (NUGGETS, model), preference, shares


def _of_labels(listed: Sequence[NuggetRow], threshold: float) -> VoteProbabilities | None:
    nuggets = [
        Nugget(id=str(index), text=str(index), importance=nugget.importance)
        for index, nugget in enumerate(listed)
    ]
    labels = [
        Assignment(nugget_id=str(index), side=side, support=label.support, probabilities=label.probabilities)
        for index, nugget in enumerate(listed)
        for side, label in ((Side.A, nugget.a), (Side.B, nugget.b))
        if label is not None
    ]
    return _row(preference_by_labels(nuggets, labels, threshold))


def _row(probability: PreferenceProbability | None) -> VoteProbabilities | None:
    return (
        None
        if probability is None
        else VoteProbabilities(a=probability.a, b=probability.b, tie=probability.tie)
    )


def _of(
    evaluator: str,
    model: str,
    dimension: str,
    verdicts: Sequence[_Verdict],
) -> JudgeCalibration:
    told = [
        (people.get(dimension), winner, shares) for people, winner, shares in verdicts if shares is not None
    ]
    cases = [(vote, winner, shares) for vote, winner, shares in told if vote is not None]
    return JudgeCalibration(
        evaluator=evaluator,
        model=model,
        dimension=dimension,
        told=len(told),
        judged=len(verdicts),
        calibration=calibration(
            [(shares.a, shares.tie, shares.b) for _, _, shares in cases],
            [_CLASSES.index(vote if vote in _CLASSES else Vote.TIE) for vote, _, _ in cases],
        ),
        band=None
        if evaluator in (NUGGETS, RESAMPLED)
        else tie_band(
            [shares.a - shares.b for _, _, shares in cases],
            [winner for _, winner, _ in cases],
            [vote for vote, _, _ in cases],
        ),
    )
