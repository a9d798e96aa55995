"""The offline model by name, and what it is worth: how often its heuristics agree with people."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.chance import above_chance

OFFLINE_MODEL = "offline-heuristic"


@dataclass(frozen=True, slots=True)
class Measured:
    """Share of battles with the same overall preference as people; a predicted tie counts half.

    Attributes:
        nuggets: Of the preference by nuggets.
        judge: Of the judge.
        longer: Of choosing the longer answer.
    """

    nuggets: float
    judge: float
    longer: float


FIGURES = Path(__file__).with_name(
    "offline_agreement.json"
)  # written by `python -m benchmarks.offline_notice`
DIMENSIONS = ("quality_overall", "coverage_broad", "coverage_deep")


def _measured() -> Measured:
    rows = json.loads(FIGURES.read_text(encoding="utf-8"))["agreement"]
    share = {row["predictor"]: row["share"] for row in rows if row["dimension"] == DIMENSIONS[0]}
    return Measured(share["nugget preference"], share["judge"], share["longer answer wins"])


# 791 battles of CrowdRAG-25, on which the heuristics were chosen, as `nuggetstream eval` evaluates them.
MEASURED = _measured()
# 27 topics that were kept apart, which no script of ours reads; embedded with weights of 32 bits, and before
# the judge compared answers with the query.
APART = Measured(nuggets=0.631, judge=0.644, longer=0.627)

NOTICE = (
    "Offline heuristics, not a language model. On 791 public battles (CrowdRAG-25) their nuggets agree with "
    f"people in {MEASURED.nuggets:.0%} and their judge in {MEASURED.judge:.0%}; choosing the longer answer "
    f"agrees in {MEASURED.longer:.0%}. The heuristics were chosen on these battles, so expect less "
    f"elsewhere. On 27 topics kept apart nuggets of an earlier version agreed in {APART.nuggets:.0%}, its "
    f"judge in {APART.judge:.0%} and the longer answer in {APART.longer:.0%}."
)


@dataclass(frozen=True, slots=True)
class GroundedAgreement:
    """How often the preference on grounded nuggets alone agrees with people on overall quality.

    Attributes:
        share: In [0, 1]; a predicted tie counts half.
        low: Lower bound of its 95% interval.
        high: Upper bound of its 95% interval.
    """

    share: float
    low: float
    high: float

    @property
    def is_argument(self) -> bool:
        """Whether verdicts and findings may rest on grounded nuggets alone."""
        return above_chance(self.low)

    @property
    def words(self) -> str:
        """What is said beside every number on grounded nuggets alone."""
        measured = f"{self.share:.2f} ({self.low:.2f}–{self.high:.2f}) on 791 public battles, offline"
        if self.is_argument:
            return f"Grounded nuggets alone agree with people in {measured}."
        return f"Grounded nuggets alone agree with people no better than chance: {measured}."


def _of_grounded() -> GroundedAgreement:
    rows = json.loads(FIGURES.read_text(encoding="utf-8"))["agreement"]
    (row,) = (
        row for row in rows if row["predictor"] == "grounded nuggets" and row["dimension"] == DIMENSIONS[0]
    )
    return GroundedAgreement(row["share"], row["low"], row["high"])


GROUNDED = _of_grounded()


def is_offline(model: str | None) -> bool:
    """Whether a model, or one of several separated by commas, is the offline model or a member of its panel.

    >>> is_offline("offline-heuristic:strict"), is_offline("gpt-5, offline-heuristic"), is_offline("gpt-5")
    (True, True, False)
    """
    names = [] if model is None else [name.strip() for name in model.split(",")]
    return any(name == OFFLINE_MODEL or name.startswith(f"{OFFLINE_MODEL}:") for name in names)


def any_offline(models: Iterable[str | None]) -> bool:
    """Whether one of several models is the offline model."""
    return any(map(is_offline, models))
