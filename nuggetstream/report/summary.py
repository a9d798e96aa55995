"""The summary of an evaluation: systems, agreement with people, and how much of it could be scored."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.report.judge_counts import JudgeCounts, JudgeRow
from nuggetstream.report.mixed_settings import Settings, mixed_settings, settings_in
from nuggetstream.report.reasons import most_frequent_first, reasons_of
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
        reasons: How often each "stage: reason" happened, and each reason why nuggets decide nothing.
        judges: What is counted for each judge. The first speaks for the lens of judges; where it gave no
            verdict, the next one does.
        offline: Battles with labels or verdicts of the offline model, which is heuristics.
        mixed: Number of battles by the settings in which they differ ("name=value"); empty where all were
            evaluated with the same ones.
    """

    received: int
    rejected: int
    scored: int
    failed: int
    reasons: Mapping[str, int]
    judges: tuple[JudgeRow, ...]
    systems: tuple[SystemRow, ...]
    agreements: tuple[AgreementRow, ...]
    offline: int = 0
    mixed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Labelled:
    """What agreement needs of a battle: the human preferences, and the vote of each predictor."""

    query: str
    preferences: Mapping[str, Vote]
    votes: Mapping[str, Vote | None]


def _closer_to_evidence(battle: BattleRow) -> Vote | None:
    return closer_to_evidence(battle.a.text, battle.b.text, [passage.text for passage in battle.evidence])


_JUDGE = "judge"
GROUNDED = "grounded nuggets"  # left out where no battle has grounded nuggets
Predictors = Mapping[str, Callable[[BattleRow], Vote | None]]
PREDICTORS: Predictors = {
    "nugget preference": lambda battle: battle.vote(Lens.NUGGET),
    GROUNDED: lambda battle: battle.vote(Lens.GROUNDED),
    _JUDGE: lambda battle: battle.vote(Lens.JUDGE),
    "longer answer wins": lambda battle: longer(battle.a.text, battle.b.text),
    "ROUGE-L to evidence": _closer_to_evidence,
}


def _votes_of(battle: BattleRow, predictors: Predictors = PREDICTORS) -> dict[str, Vote | None]:
    """What each predictor says about a battle, and each judge under its name."""
    votes = {name: predictor(battle) for name, predictor in predictors.items()}
    return votes | {_name_of(judgment.evaluator): judgment.winner for judgment in battle.judgments}


def _name_of(judge: str) -> str:
    return f"{_JUDGE} {judge}"


def _predictors(judges: Sequence[str], predictors: Predictors = PREDICTORS) -> list[str]:
    """The names of all predictors; with several judges each of them is one, under its name."""
    named = [_JUDGE] if len(judges) <= 1 else list(map(_name_of, judges))
    return [name for predictor in predictors for name in (named if predictor == _JUDGE else [predictor])]


class Summing:
    """Summarises battles one after another, and keeps of each only what the summary needs."""

    def __init__(self) -> None:
        self._battles = self._scored = self._offline = 0
        self._settings: Counter[Settings] = Counter()
        self._judges = JudgeCounts()
        self._reasons: Counter[str] = Counter()
        self._systems: dict[str, _SystemCounts] = {}
        self._labelled: list[_Labelled] = []

    def add(self, battle: BattleRow) -> None:
        """Count one accepted battle, scored or not."""
        self._battles += 1
        self._scored += battle.is_scored
        self._offline += battle.is_offline
        self._settings[settings_in(battle)] += 1
        self._reasons.update(reasons_of(battle))
        self._judges.add(battle)
        for side in {battle.answer(side).system: side for side in Side}.values():
            name = battle.answer(side).system
            self._systems.setdefault(name, _SystemCounts()).add(battle, side)
        if battle.preferences:
            self._labelled.append(_Labelled(battle.query, dict(battle.preferences), _votes_of(battle)))

    def summary(self, rejected: int) -> Summary:
        """The summary of the battles so far.

        Args:
            rejected: Lines of the file that were no battle; they count as received.
        """
        dimensions = dict.fromkeys(name for battle in self._labelled for name in battle.preferences)
        return Summary(
            received=self._battles + rejected,
            rejected=rejected,
            scored=self._scored,
            failed=self._battles - self._scored + rejected,
            reasons=most_frequent_first(self._reasons, rejected),
            judges=self._judges.rows(),
            systems=tuple(self._system_rows()),
            agreements=tuple(
                agreement_row(self._labelled, dimension, predictor, self._votes(predictor))
                for dimension in dimensions
                for predictor in _predictors(self._judges.names)
                if predictor != GROUNDED or any(self._votes(predictor))
            ),
            offline=self._offline,
            mixed=mixed_settings(self._settings),
        )

    def _votes(self, predictor: str) -> list[Vote | None]:
        return [battle.votes.get(predictor) for battle in self._labelled]

    def _system_rows(self) -> list[SystemRow]:
        rows = [counts.row(name) for name, counts in sorted(self._systems.items())]
        return sorted(rows, key=lambda row: (row.mean_all_score is None, -(row.mean_all_score or 0)))


def predict(
    battles: Sequence[BattleRow], predictors: Predictors = PREDICTORS
) -> dict[str, tuple[Vote | None, ...]]:
    """What each predictor says about each battle; None where it has no prediction.

    With several judges each of them is a predictor, under its name.
    """
    judges = JudgeCounts()
    for battle in battles:
        judges.add(battle)
    votes = [_votes_of(battle, predictors) for battle in battles]
    names = _predictors(judges.names, predictors)
    winners = {name: tuple(of_battle.get(name) for of_battle in votes) for name in names}
    return {name: own for name, own in winners.items() if name != GROUNDED or any(own)}


def agreement_row(
    battles: Sequence[BattleRow | _Labelled], dimension: str, predictor: str, votes: Sequence[Vote | None]
) -> AgreementRow:
    """Agreement of one predictor's votes, one per battle, with one human dimension."""
    labelled = [
        (battle, vote) for battle, vote in zip(battles, votes, strict=True) if dimension in battle.preferences
    ]
    scored = [(battle, vote) for battle, vote in labelled if vote is not None]
    predicted = [vote for _, vote in scored]
    reference = [battle.preferences[dimension] for battle, _ in scored]
    queries = [battle.query for battle, _ in scored]
    return AgreementRow(
        predictor=predictor,
        dimension=dimension,
        agreement=agreement(predicted, reference, queries, np.random.default_rng(_SEED)),
        kappa=weighted_kappa(confusion_of(reference, predicted)),
        unscored=len(labelled) - len(scored),
    )


@dataclass(slots=True)
class _SystemCounts:
    """What is counted for one system."""

    battles: int = 0
    scores: list[float] = field(default_factory=list)
    points: dict[Lens, list[float]] = field(default_factory=lambda: {lens: [] for lens in INDEPENDENT})

    def add(self, battle: BattleRow, side: Side) -> None:
        """Count a battle in which the system gave the answer of this side."""
        self.battles += 1
        if battle.nugget_verdict is not None:
            scores = battle.nugget_verdict.a if side is Side.A else battle.nugget_verdict.b
            self.scores.append(scores.all_score)
        for lens, points in self.points.items():
            if (vote := battle.vote(lens)) is not None:
                points.append(vote.points if side is Side.A else 1.0 - vote.points)

    def row(self, system: str) -> SystemRow:
        """The row of the system."""
        rates = {lens.value: _mean(points) for lens, points in self.points.items()}
        return SystemRow(system, self.battles, _mean(self.scores), len(self.scores), rates)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
