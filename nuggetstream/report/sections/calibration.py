"""Calibration: of the verdicts that a scorer calls 80% probable, do people share four fifths?

Scorers with probabilities are judges, members of their panels, and the nuggets with the labels of one model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.nugget import Assignment, Nugget
from nuggetstream.files.evaluated import BattleRow, NuggetRow, ProbabilitiesRow
from nuggetstream.files.numerals import number, part_of, percent
from nuggetstream.files.results import Results
from nuggetstream.nuggets.preference import preference_by_labels
from nuggetstream.nuggets.tie_band import TieBand, tie_band
from nuggetstream.report.blocks import Block, Figure, Figures, NotMeasured, Table
from nuggetstream.report.charts import GREEN, GREY, figure, share_axis
from nuggetstream.report.section import Content, Part
from nuggetstream.report.wording import FEW_NOTE, dimension_name, few_mark, share_of
from nuggetstream.statistics.calibration import Calibration, calibration

_CLASSES = (Vote.A, Vote.TIE, Vote.B)
_AXIS = [0.0, 1.0]
NUGGETS = "nuggets"


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


_Verdict = tuple[dict[str, Vote], Vote, ProbabilitiesRow | None]


def compute(results: Results) -> tuple[JudgeCalibration, ...]:
    """One comparison per scorer, model and human dimension; scorers without probabilities are left out."""
    scorers: dict[tuple[str, str], list[_Verdict]] = {}
    for battle in results.battles:
        people = dict(battle.preferences)
        for scorer, said, shares in (*_by_judges(battle), *_by_nuggets(battle)):
            scorers.setdefault(scorer, []).append((people, said, shares))
    return tuple(
        _of(evaluator, model, dimension, verdicts)
        for (evaluator, model), verdicts in scorers.items()
        for dimension in results.dimensions
        if any(told is not None for _, _, told in verdicts)
    )


_Said = tuple[tuple[str, str], Vote, ProbabilitiesRow | None]


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
    if (verdict := battle.nugget_verdict) is not None and battle.nuggets:
        said, shares = verdict.preference, _of_labels(battle.nuggets, verdict.tie_threshold)
        yield (NUGGETS, model), said, shares


def _of_labels(listed: Sequence[NuggetRow], threshold: float) -> ProbabilitiesRow | None:
    nuggets = [
        Nugget(id=str(place), text=str(place), importance=each.importance)
        for place, each in enumerate(listed)
    ]
    labels = [
        Assignment(nugget_id=str(place), side=side, support=label.support, probabilities=label.told)
        for place, each in enumerate(listed)
        for side, label in ((Side.A, each.a), (Side.B, each.b))
        if label is not None
    ]
    found = preference_by_labels(nuggets, labels, threshold)
    return None if found is None else ProbabilitiesRow(a=found.a, b=found.b, tie=found.tie)


def _of(
    evaluator: str,
    model: str,
    dimension: str,
    verdicts: Sequence[_Verdict],
) -> JudgeCalibration:
    told = [(people.get(dimension), said, shares) for people, said, shares in verdicts if shares is not None]
    cases = [(vote, said, shares) for vote, said, shares in told if vote is not None]
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
        if evaluator == NUGGETS
        else tie_band(
            [shares.a - shares.b for _, _, shares in cases],
            [said for _, said, _ in cases],
            [vote for vote, _, _ in cases],
        ),
    )


def draw(judges: Sequence[JudgeCalibration]) -> Content:
    """A reliability plot per scorer and dimension, and a table of all."""
    compared = [judge for judge in judges if judge.calibration.cases]
    blocks: list[Block] = []
    if compared:
        blocks.append(
            Figures("Scorer and human dimension", {_name(each): (_plot(each),) for each in compared})
        )
        blocks += [_table(compared), *_bands(compared)]
    else:
        blocks.append(NotMeasured("calibration of probabilities", _nothing(judges)))
    return Content(
        findings=tuple(_finding(each) for each in compared[:1]),
        reading="Each point is the verdicts of similar probability: to the right how probable the scorer "
        "called them on average, upwards how many of them people share. On the diagonal probabilities can be "
        "taken at their word; below it the judge is too sure of itself. The calibration error is the mean "
        "distance from the diagonal. The Brier score also counts how much the probabilities tell apart: it "
        "should be below that of somebody who always names the shares of A, tie and B. The probabilities of "
        "the nuggets follow from those of their labels, which are taken as independent.",
        basis=_basis(compared),
        blocks=tuple(blocks),
    )


def _basis(judges: Sequence[JudgeCalibration]) -> str:
    """The verdicts compared per judge, on the first dimension."""
    first = [each for each in judges if each.dimension == judges[0].dimension]
    compared = (
        f"{each.evaluator} {part_of(each.calibration.cases, each.judged, 'verdicts')}" for each in first
    )
    return ", ".join(compared) or "0 verdicts"


def _nothing(judges: Sequence[JudgeCalibration]) -> str:
    if judges:
        return "no battle has both a human preference and probabilities of a judge or of labels"
    return "no judge and no label has probabilities; the profile `frugal` asks for them"


def _name(judge: JudgeCalibration) -> str:
    return f"{judge.evaluator}, {judge.model}, {dimension_name(judge.dimension)}"


def _finding(judge: JudgeCalibration) -> str:
    found = judge.calibration
    return (
        f"On {dimension_name(judge.dimension)}, {judge.evaluator} is {percent(found.confidence, 0)} sure on "
        f"average and agrees with people in {share_of(found.right)}; the calibration error is "
        f"{percent(found.error)}."
    )


def _plot(judge: JudgeCalibration) -> Figure:
    bins = judge.calibration.bins
    known = [(each.confidence, each.right) for each in bins if each.right.value is not None]
    diagonal = go.Scatter(
        name="perfect", x=_AXIS, y=_AXIS, mode="lines", line={"color": GREY, "dash": "dot"}, hoverinfo="skip"
    )
    marks = go.Scatter(
        name="verdicts",
        x=[x for x, _ in known],
        y=[right.value for _, right in known],
        mode="markers",
        marker={"color": GREEN, "size": 10},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [(right.high or 0.0) - (right.value or 0.0) for _, right in known],
            "arrayminus": [(right.value or 0.0) - (right.low or 0.0) for _, right in known],
        },
        text=[share_of(right) for _, right in known],
        hovertemplate="%{x:.0%} sure, people agree in %{text}<extra></extra>",
    )
    layout = {
        "xaxis": share_axis("probability of the verdict", range=_AXIS),
        "yaxis": share_axis("people share it", range=_AXIS),
    }
    alt = "; ".join(f"{percent(x, 0)} sure, right in {share_of(right)}" for x, right in known)
    return figure(
        "Probability of a verdict, and how many of them people share", alt, [diagonal, marks], 380, layout
    )


def _table(judges: Sequence[JudgeCalibration]) -> Table:
    rows = [
        (
            each.evaluator,
            each.model,
            dimension_name(each.dimension),
            percent(each.calibration.confidence),
            share_of(each.calibration.right),
            percent(each.calibration.error) + few_mark(each.calibration.cases),
            number(each.calibration.brier, 3),
            number(each.calibration.brier_of_shares, 3),
        )
        for each in judges
    ]
    columns = (
        "scorer", "model", "dimension", "mean probability", "people agree", "calibration error",
        "Brier score", "Brier score of the shares",
    )  # fmt: skip
    return Table(
        caption="Calibration per scorer",
        columns=columns,
        rows=rows,
        note=f"The most probable verdict is compared, also where two orders disagree. {FEW_NOTE}",
        text_columns=(0, 1, 2),
    )


def _bands(judges: Sequence[JudgeCalibration]) -> list[Block]:
    rows = [
        (
            each.evaluator,
            each.model,
            dimension_name(each.dimension),
            number(each.band.band, 2) + few_mark(each.band.battles),
            number(each.band.kappa, 3),
            number(each.band.kappa_decided, 3),
        )
        for each in judges
        if each.band is not None
    ]
    if not rows:
        return []
    columns = ("judge", "model", "dimension", "tie band", "kappa with a band", "kappa as decided")
    note = (
        "The tie band is the difference of the probabilities of A and B up to which calling a tie agrees "
        "best with people (weighted kappa). Kappa with a band uses, for each fifth of the battles, the band "
        f"of the others; where it is not higher than kappa as decided, a band does not help. {FEW_NOTE}"
    )
    table = Table(caption="Tie band per judge", columns=columns, rows=rows, note=note, text_columns=(0, 1, 2))
    return [table]


PART = Part("calibration", compute, draw)
