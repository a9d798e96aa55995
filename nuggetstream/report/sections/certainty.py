"""Certainty: would other nuggets have led to another winner?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from nuggetstream.domain.battle import Vote
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import integer, part_of, percent, percent_interval
from nuggetstream.files.results import Results
from nuggetstream.nuggets.preference import PreferenceProbability, preference_probability
from nuggetstream.nuggets.scores import CREDIT
from nuggetstream.report.blocks import Block, Figure, Figures, Notice, NotMeasured, Table
from nuggetstream.report.charts import (
    BLUE,
    figure,
    names_axis,
    rows_height,
    share_axis,
    share_marks,
    vertical_line,
)
from nuggetstream.report.section import Content, Part
from nuggetstream.report.wording import FEW_NOTE, NO_PREFERENCE, dimension_name, share_of
from nuggetstream.statistics.share import Share, share

BOUNDS = (0.0, 0.5, 0.7, 0.9, 1.0)  # of the bands of certainty; the upper bound belongs to the band
CERTAIN = 0.95
RESAMPLES = 1000
_SEED = 50
_BINS = 20
_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class BattleProbability:
    """One battle: probability of each outcome when its nuggets are resampled; they sum to 1."""

    battle_id: str
    nuggets: int
    a: float
    tie: float
    b: float

    @property
    def certainty(self) -> float:
        """Probability of the most likely outcome."""
        return max(self.a, self.tie, self.b)


@dataclass(frozen=True, slots=True)
class Band:
    """Battles of similar certainty.

    Attributes:
        low: Certainty above this, in [0, 1].
        high: Certainty up to this.
        battles: Battles in the band.
        agree: Agreement with people, of the battles in which people and the most likely outcome both prefer
            an answer.
    """

    low: float
    high: float
    battles: int
    agree: Share


@dataclass(frozen=True, slots=True)
class Certainty:
    """All battles.

    Attributes:
        dimension: The human dimension that agreement is measured on; None without one.
        received: All battles.
        scored: Battles with a nugget preference.
        few_nuggets: Scored battles with fewer than two nuggets: nothing to resample.
        unlabelled: Scored battles with a nugget that lacks a label.
        sure: Battles with a certainty of at least 95%, of those with a probability.
        bands: By certainty, rising.
        battles: In the order of the file.
    """

    dimension: str | None
    received: int
    scored: int
    few_nuggets: int
    unlabelled: int
    sure: Share
    bands: tuple[Band, ...]
    battles: tuple[BattleProbability, ...]


def compute(results: Results) -> Certainty:
    """A probability per battle, and agreement with people by certainty."""
    rng = np.random.default_rng(_SEED)
    dimension = results.dimensions[0] if results.dimensions else None
    scored = [battle for battle in results.battles if battle.nugget_verdict is not None]
    labelled = [battle for battle in scored if not _lacks_a_label(battle)]
    usable = [battle for battle in labelled if len(battle.nuggets) > 1]
    probabilities = [_probability(battle, rng) for battle in usable]
    battles = tuple(
        BattleProbability(battle.id, len(battle.nuggets), outcome.a, outcome.tie, outcome.b)
        for battle, outcome in zip(usable, probabilities, strict=True)
    )
    judged = [
        (probability.certainty, outcome.likeliest, battle.preferences.get(dimension) if dimension else None)
        for battle, probability, outcome in zip(usable, battles, probabilities, strict=True)
    ]
    return Certainty(
        dimension=dimension,
        received=results.received,
        scored=len(scored),
        few_nuggets=len(labelled) - len(usable),
        unlabelled=len(scored) - len(labelled),
        sure=share(sum(probability.certainty >= CERTAIN for probability in battles), len(battles)),
        bands=tuple(_band(low, high, judged) for low, high in pairwise(BOUNDS)),
        battles=battles,
    )


def _lacks_a_label(battle: BattleRow) -> bool:
    return any(nugget.a is None or nugget.b is None for nugget in battle.nuggets)


def _probability(battle: BattleRow, rng: np.random.Generator) -> PreferenceProbability:
    a, b = (
        np.array([CREDIT[label.support] for label in labels if label is not None])
        for labels in ([nugget.a for nugget in battle.nuggets], [nugget.b for nugget in battle.nuggets])
    )
    threshold = battle.nugget_verdict.tie_threshold if battle.nugget_verdict else 0.0
    return preference_probability(a, b, threshold, rng, RESAMPLES)


def _band(low: float, high: float, judged: Sequence[tuple[float, Vote, Vote | None]]) -> Band:
    own = [(likely, human) for certainty, likely, human in judged if low < certainty <= high]
    decided = [(likely, human) for likely, human in own if likely in _DECIDED and human in _DECIDED]
    agree = share(sum(likely is human for likely, human in decided), len(decided))
    return Band(low, high, len(own), agree)


def draw(certainty: Certainty) -> Content:
    """A histogram of certainty, and agreement with people by certainty."""
    blocks: list[Block] = []
    if certainty.battles:
        charts = [_histogram(certainty)]
        if any(band.agree.value is not None for band in certainty.bands):
            charts.append(_bands(certainty))
        blocks += [Figures.of(*charts), _table(certainty)]
    else:
        blocks.append(NotMeasured("certainty of a preference", "no battle has two labelled nuggets"))
    if certainty.battles and certainty.dimension is None:
        blocks.append(NotMeasured("agreement by certainty", NO_PREFERENCE))
    left_out = (
        (certainty.few_nuggets, "fewer than two nuggets"),
        (certainty.unlabelled, "a nugget without a label"),
    )
    for count, reason in left_out:
        if count:
            part = part_of(count, certainty.scored, "scored battles")
            blocks.append(Notice(f"{part} have {reason}, and therefore no probability."))
    return Content(
        findings=_findings(certainty),
        reading="The nuggets of a battle are a sample of what a good answer needs. They are resampled "
        f"{integer(RESAMPLES)} times per battle; certainty is the share of samples with the most likely "
        "outcome (A, tie or B). It tells how much the choice of nuggets matters, not whether the nuggets "
        "or their labels are right: agreement with people by certainty tells that. report.json has all "
        "three probabilities of each battle.",
        basis=part_of(len(certainty.battles), certainty.received, "battles"),
        blocks=tuple(blocks),
    )


def _findings(certainty: Certainty) -> tuple[str, ...]:
    if certainty.sure.value is None:
        return ()
    findings = [
        f"{share_of(certainty.sure)} of the preferences have a certainty of at least {percent(CERTAIN, 0)}."
    ]
    top = certainty.bands[-1]
    if certainty.dimension is not None and top.agree.value is not None:
        findings.append(
            f"Where certainty is above {percent(top.low, 0)}, people make the same decision in "
            f"{share_of(top.agree)} of the battles."
        )
    return tuple(findings)


def _histogram(certainty: Certainty) -> Figure:
    counts = Counter(min(int(battle.certainty * _BINS), _BINS - 1) for battle in certainty.battles)
    bins = range(min(counts), _BINS)
    bars = go.Bar(
        x=[(index + 0.5) / _BINS for index in bins],
        y=[counts[index] for index in bins],
        width=0.9 / _BINS,
        marker={"color": BLUE},
        hovertemplate="%{y} battles around %{x:.0%}<extra></extra>",
    )
    alt = "; ".join(
        f"{percent(index / _BINS, 0)} to {percent((index + 1) / _BINS, 0)}: {counts[index]} battles"
        for index in bins
    )
    layout = {
        "xaxis": {"title": {"text": "probability of the most likely outcome"}, "tickformat": ".0%"},
        "yaxis": {"title": {"text": "battles"}},
    }
    return figure("Certainty of the nugget preference", alt, [bars], 300, layout)


def _name(band: Band) -> str:
    return f"{percent(band.low, 0)} to {percent(band.high, 0)} certain"


def _bands(certainty: Certainty) -> Figure:
    known = [band for band in certainty.bands if band.agree.value is not None]
    rows = [(float(row), band.agree) for row, band in enumerate(known)]
    marks = share_marks("agreement", rows, BLUE, "diamond", "<extra></extra>")
    layout = {
        "yaxis": names_axis([_name(band) for band in known]),
        "xaxis": share_axis("agreement where both decide", range=[-0.02, 1.02]),
        "shapes": [vertical_line(0.5)],
    }
    alt = "; ".join(f"{_name(band)}: {share_of(band.agree)}" for band in known)
    title = f"Agreement by certainty: {dimension_name(certainty.dimension or '')}"
    return figure(title, alt, [marks], max(300, rows_height(len(known), 44)), layout)


def _table(certainty: Certainty) -> Table:
    rows = [
        (
            _name(band),
            part_of(band.battles, len(certainty.battles)),
            share_of(band.agree),
            percent_interval(band.agree.low, band.agree.high),
        )
        for band in certainty.bands
    ]
    columns = ("certainty", "battles", "agrees with people", "95% interval")
    note = f"Agreement in battles where people and the most likely outcome both prefer an answer. {FEW_NOTE}"
    return Table(caption="By certainty", columns=columns, rows=rows, note=note, folded=True)


PART = Part("certainty", compute, draw)
