"""What an evaluation found: systems, agreement with people, and how much of it could be scored."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.agreement import Agreement, agreement, confusion_of, weighted_kappa
from nuggetstream.text.baselines import closer_to_evidence, longer

_SEED = 791


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One battle after evaluation. None is "not known", never a zero or a tie.

    Attributes:
        reference: human preference per dimension.
        all_scores: All Score of A and of B.
        flipped: whether the judge's verdict changed with the order.
        failures: "stage: reason" of every stage that gave up.
    """

    battle_id: str
    query: str
    system_a: str
    system_b: str
    answer_a: str
    answer_b: str
    evidence: tuple[str, ...]
    reference: Mapping[str, Vote]
    all_scores: tuple[float, float] | None
    nugget: Vote | None
    judge: Vote | None
    human: Vote | None
    flipped: bool | None
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system over all its battles.

    Attributes:
        mean_all_score: over the battles that were scored; None when none was.
        scored: how many those are, of `battles`.
        win_rates: lens -> (wins + half the ties) / battles with an outcome; None without one.
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
        kappa: quadratic weights, over A, tie, B; None where it has no answer.
        unscored: battles with a reference that the predictor has nothing to say about.
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
        received: battles the file held, those refused included.
        refused: lines that were no battle.
        scored: battles with nuggets assigned and a verdict.
        failed: battles with at least one of the two missing.
        reasons: how often each "stage: reason" happened.
        flips: verdicts that changed with the order, of `asked_twice`.
    """

    received: int
    refused: int
    scored: int
    failed: int
    reasons: Mapping[str, int]
    flips: int
    asked_twice: int
    systems: tuple[SystemRow, ...]
    agreements: tuple[AgreementRow, ...]


Predictor = Callable[[Evaluated], Vote | None]

PREDICTORS: dict[str, Predictor] = {
    "nugget preference": lambda battle: battle.nugget,
    "judge": lambda battle: battle.judge,
    "longer answer wins": lambda battle: longer(battle.answer_a, battle.answer_b),
    "ROUGE-L to evidence": lambda b: closer_to_evidence(b.answer_a, b.answer_b, b.evidence),
}

_LENSES: dict[str, Predictor] = {
    "human": lambda battle: battle.human,
    "nugget": lambda battle: battle.nugget,
    "judge": lambda battle: battle.judge,
}


def summarise(battles: Sequence[Evaluated], refused: int) -> Summary:
    """Summarise evaluated battles.

    Args:
        battles: every accepted battle, scored or not.
        refused: lines of the file that were no battle; they count as received.
    """
    scored = sum(battle.nugget is not None and battle.judge is not None for battle in battles)
    reasons = Counter(reason for battle in battles for reason in battle.failures)
    if refused:
        reasons["intake: invalid_input"] += refused
    return Summary(
        received=len(battles) + refused,
        refused=refused,
        scored=scored,
        failed=len(battles) - scored + refused,
        reasons=dict(reasons.most_common()),
        flips=sum(battle.flipped is True for battle in battles),
        asked_twice=sum(battle.flipped is not None for battle in battles),
        systems=tuple(_system_rows(battles)),
        agreements=tuple(_agreement_rows(battles)),
    )


def _system_rows(battles: Sequence[Evaluated]) -> list[SystemRow]:
    names = sorted({name for battle in battles for name in (battle.system_a, battle.system_b)})
    rows = [_system_row(name, battles) for name in names]
    return sorted(rows, key=lambda row: (row.mean_all_score is None, -(row.mean_all_score or 0)))


def _system_row(name: str, battles: Sequence[Evaluated]) -> SystemRow:
    own = [battle for battle in battles if name in (battle.system_a, battle.system_b)]
    scores = [b.all_scores[b.system_b == name] for b in own if b.all_scores is not None]
    return SystemRow(
        system=name,
        battles=len(own),
        mean_all_score=sum(scores) / len(scores) if scores else None,
        scored=len(scores),
        win_rates={lens: _win_rate(name, own, says) for lens, says in _LENSES.items()},
    )


def _win_rate(name: str, own: Sequence[Evaluated], says: Predictor) -> float | None:
    points = []
    for battle in own:
        vote = says(battle)
        if vote is None:
            continue
        side = Vote.A if battle.system_a == name else Vote.B
        points.append(1.0 if vote is side else 0.5 if vote in (Vote.TIE, Vote.BOTH_BAD) else 0.0)
    return sum(points) / len(points) if points else None


def _agreement_rows(battles: Sequence[Evaluated]) -> list[AgreementRow]:
    dimensions = list(dict.fromkeys(name for battle in battles for name in battle.reference))
    return [_agreement_row(battles, dimension, name) for dimension in dimensions for name in PREDICTORS]


def _agreement_row(battles: Sequence[Evaluated], dimension: str, name: str) -> AgreementRow:
    predict = PREDICTORS[name]
    labelled = [battle for battle in battles if dimension in battle.reference]
    said = [(battle, vote) for battle in labelled if (vote := predict(battle)) is not None]
    predicted = [vote for _, vote in said]
    reference = [battle.reference[dimension] for battle, _ in said]
    queries = [battle.query for battle, _ in said]
    found = agreement(predicted, reference, queries, np.random.default_rng(_SEED))
    kappa = weighted_kappa(confusion_of(reference, predicted))
    return AgreementRow(name, dimension, found, kappa, len(labelled) - len(said))
