"""The summary of an evaluation: systems, agreement with people, and how much of it could be scored."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.statistics.agreement import Agreement, agreement, confusion_of, weighted_kappa
from nuggetstream.text.baselines import closer_to_evidence, longer

_SEED = 791


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system over all its battles.

    Attributes:
        mean_all_score: Over the battles that were scored; None when none was.
        scored: How many those are, of `battles`.
        win_rates: Lens -> (wins + half the ties) / battles with an outcome; None without one.
    """

    system: str
    battles: int
    mean_all_score: float | None
    scored: int
    win_rates: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One predictor against one human dimension.

    Attributes:
        kappa: Quadratically weighted kappa over A, tie, B; None where it is undefined.
        unscored: Battles with a reference for which the predictor has no prediction.
    """

    predictor: str
    dimension: str
    agreement: Agreement
    kappa: float | None
    unscored: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything the summary table shows.

    Attributes:
        received: Battles the file held, those rejected at intake included.
        rejected: Lines rejected at intake.
        scored: Battles with nuggets assigned and a verdict.
        failed: Battles with at least one of the two missing.
        reasons: How often each "stage: reason" happened.
        flips: Verdicts that changed with the order, of `asked_twice`.
    """

    received: int
    rejected: int
    scored: int
    failed: int
    reasons: Mapping[str, int]
    flips: int
    asked_twice: int
    systems: tuple[SystemRow, ...]
    agreements: tuple[AgreementRow, ...]


def _closer_to_evidence(battle: BattleRow) -> Vote | None:
    return closer_to_evidence(battle.a.text, battle.b.text, [passage.text for passage in battle.evidence])


PREDICTORS: Mapping[str, Callable[[BattleRow], Vote | None]] = {
    "nugget preference": lambda battle: battle.vote(Lens.NUGGET),
    "judge": lambda battle: battle.vote(Lens.JUDGE),
    "longer answer wins": lambda battle: longer(battle.a.text, battle.b.text),
    "ROUGE-L to evidence": _closer_to_evidence,
}


def summarise(battles: Sequence[BattleRow], rejected: int) -> Summary:
    """Summarise evaluated battles.

    Args:
        battles: Every accepted battle, scored or not.
        rejected: Lines of the file that were no battle; they count as received.
    """
    scored = sum(battle.is_scored for battle in battles)
    flips = [battle.judgments[0].flipped for battle in battles if battle.judgments]
    dimensions = dict.fromkeys(name for battle in battles for name in battle.preferences)
    predictions = predict(battles) if dimensions else {}
    return Summary(
        received=len(battles) + rejected,
        rejected=rejected,
        scored=scored,
        failed=len(battles) - scored + rejected,
        reasons=failure_counts(battles, rejected),
        flips=sum(flipped is True for flipped in flips),
        asked_twice=sum(flipped is not None for flipped in flips),
        systems=tuple(_system_rows(battles)),
        agreements=tuple(
            agreement_row(battles, dimension, predictor, votes)
            for dimension in dimensions
            for predictor, votes in predictions.items()
        ),
    )


def failure_counts(battles: Sequence[BattleRow], rejected: int) -> dict[str, int]:
    """How often each "stage: reason" happened, most frequent first."""
    reasons = Counter(
        f"{failure.stage}: {failure.reason}" for battle in battles for failure in battle.failures
    )
    if rejected:
        reasons["intake: invalid_input"] += rejected
    return dict(reasons.most_common())


def predict(battles: Sequence[BattleRow]) -> dict[str, tuple[Vote | None, ...]]:
    """What each predictor says about each battle; None where it has no prediction."""
    return {name: tuple(map(predictor, battles)) for name, predictor in PREDICTORS.items()}


def agreement_row(
    battles: Sequence[BattleRow], dimension: str, predictor: str, votes: Sequence[Vote | None]
) -> AgreementRow:
    """Agreement of one predictor's votes, one per battle, with one human dimension."""
    labelled = [
        (battle, vote) for battle, vote in zip(battles, votes, strict=True) if dimension in battle.preferences
    ]
    known = [(battle, vote) for battle, vote in labelled if vote is not None]
    predicted = [vote for _, vote in known]
    reference = [battle.preferences[dimension] for battle, _ in known]
    queries = [battle.query for battle, _ in known]
    return AgreementRow(
        predictor=predictor,
        dimension=dimension,
        agreement=agreement(predicted, reference, queries, np.random.default_rng(_SEED)),
        kappa=weighted_kappa(confusion_of(reference, predicted)),
        unscored=len(labelled) - len(known),
    )


def _system_rows(battles: Sequence[BattleRow]) -> list[SystemRow]:
    names = sorted({battle.answer(side).system for battle in battles for side in Side})
    rows = [_system_row(name, battles) for name in names]
    return sorted(rows, key=lambda row: (row.mean_all_score is None, -(row.mean_all_score or 0)))


def _system_row(name: str, battles: Sequence[BattleRow]) -> SystemRow:
    own = [
        (battle, Side.B if battle.b.system == name else Side.A) for battle in battles if _has(battle, name)
    ]
    scores = [
        (battle.nugget_verdict.a if side is Side.A else battle.nugget_verdict.b).all_score
        for battle, side in own
        if battle.nugget_verdict is not None
    ]
    return SystemRow(
        system=name,
        battles=len(own),
        mean_all_score=sum(scores) / len(scores) if scores else None,
        scored=len(scores),
        win_rates={lens.value: _win_rate(name, [battle for battle, _ in own], lens) for lens in Lens},
    )


def _has(battle: BattleRow, name: str) -> bool:
    return name in (battle.a.system, battle.b.system)


def _win_rate(name: str, battles: Sequence[BattleRow], lens: Lens) -> float | None:
    points = []
    for battle in battles:
        vote = battle.vote(lens)
        if vote is None:
            continue
        side = Vote.A if battle.a.system == name else Vote.B
        points.append(1.0 if vote is side else 0.5 if vote in (Vote.TIE, Vote.BOTH_BAD) else 0.0)
    return sum(points) / len(points) if points else None
