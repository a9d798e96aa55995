"""What people's votes say, and what they could.

Would style held equal, or more votes, change the order?
"""

from collections.abc import Sequence

from nuggetstream.figures.charts import (
    BLUE,
    ORANGE,
    figure,
    marks_with_intervals,
    names_axis,
    ratings_figure,
    rows_height,
    vertical_line,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import interval, many, number, part_of
from nuggetstream.ratings.style_effects import PER_PARAMETER
from nuggetstream.report.blocks import Block, Figures, Notice, NotMeasured, Table
from nuggetstream.report.drawings.combined import draw as draw_combined
from nuggetstream.report.numbers.combined import compute_combined
from nuggetstream.report.numbers.style import StyleControl, compute_style
from nuggetstream.report.section import Content, Part, Section

_ROW = 44
_NAMES = {
    "length": "length in characters",
    "citations": "citations",
    "headers": "headers",
    "lists": "list items",
    "bold": "bold passages",
}
_PREFERRED = {  # what a coefficient above and below zero means
    "length": ("longer answers", "shorter answers"),
    "citations": ("more citations", "fewer citations"),
    "headers": ("more headers", "fewer headers"),
    "lists": ("more list items", "fewer list items"),
    "bold": ("more bold passages", "fewer bold passages"),
}


def draw_style(arenas: Sequence[StyleControl]) -> Content:
    """Ratings with and without style held equal, and the effect of each feature of style."""
    several = len(arenas) > 1
    controlled = [arena for arena in arenas if arena.missing is None]
    charts = {arena.arena: (_ratings(arena), _effects(arena)) for arena in controlled}
    blocks: list[Block] = [Figures("Arena" if several else "", charts)] if charts else []
    for arena in arenas:
        suffix = f", {arena.arena}" if several else ""
        if arena.missing:
            blocks.append(NotMeasured(f"ratings at equal style{suffix}", arena.missing))
            continue
        blocks += [_systems(arena, suffix), _coefficients(arena, suffix)]
        if _has_few_votes(arena):
            votes = f"{many(arena.votes, 'vote')} determine {arena.parameters} numbers{suffix}"
            text = f"{votes}: fewer than {PER_PARAMETER} each, so the result is not certain."
            blocks.append(Notice(text))
    return Content(
        findings=tuple(_finding(arena) for arena in controlled[:1]),
        reading="Strengths and coefficients of style are fitted together to the human votes: logistic "
        "regression on the relative differences of length, citations, headers, lists and bold passages. A "
        "coefficient is in logits per standard deviation of the difference; above 0, people preferred more "
        "of the feature, and e to the power of the coefficient is the change of the odds. Intervals are "
        "95%, from a sandwich estimate that takes whole queries as independent (with few queries they are "
        "too narrow), so the ratings as voted differ a little from the resampled ones above. Style is held "
        "equal, not removed: an answer may be longer because it says more.",
        basis=_basis(arenas),
        blocks=tuple(blocks),
    )


def _basis(arenas: Sequence[StyleControl]) -> str:
    if len(arenas) > 1:
        return f"{many(sum(arena.votes for arena in arenas), 'vote')} in {many(len(arenas), 'arena')}"
    arena = arenas[0]
    votes = part_of(arena.votes, arena.received, "battles")
    return f"{votes} with a usable vote, on {many(arena.queries, 'query', 'queries')}"


def _has_few_votes(arena: StyleControl) -> bool:
    return arena.votes < PER_PARAMETER * arena.parameters


def _finding(arena: StyleControl) -> str:
    clear = [
        _PREFERRED[coefficient.feature][coefficient.value < 0]
        for coefficient in (effect.coefficient for effect in arena.effects)
        if coefficient
        and coefficient.value is not None
        and coefficient.low is not None
        and coefficient.high is not None
        and coefficient.low * coefficient.high > 0
    ]
    text = f"People preferred {' and '.join(clear)}" if clear else "No feature of style shows a clear effect"
    before = [system.system for system in arena.systems]
    by_controlled = sorted(arena.systems, key=lambda system: (-system.controlled.rating, system.system))
    moved = sum(one != other.system for one, other in zip(before, by_controlled, strict=True))
    order = f"{moved} of {len(before)} systems change their place" if moved else "the order stays the same"
    caution = " That rests on few votes for so many numbers." if _has_few_votes(arena) else ""
    return f"{text}; with style held equal, {order}.{caution}"


def _ratings(arena: StyleControl) -> Figure:
    rows = {system.system: (system.plain, system.controlled) for system in arena.systems}
    ways = (("as voted", ORANGE, "circle"), ("at equal style", BLUE, "diamond"))
    return ratings_figure("Human lens with 95% intervals", rows, ways, _ROW, 0.3)


def _effects(arena: StyleControl) -> Figure:
    coefficients = [
        effect.coefficient
        for effect in arena.effects
        if effect.coefficient and effect.coefficient.value is not None
    ]
    marks = marks_with_intervals(
        "coefficient",
        [coefficient.value or 0.0 for coefficient in coefficients],
        list(range(len(coefficients))),
        [coefficient.low for coefficient in coefficients],
        [coefficient.high for coefficient in coefficients],
        marker={"color": BLUE, "symbol": "diamond", "size": 11},
        hovertemplate="%{x:.2f} logits<extra></extra>",
    )
    return figure(
        "Effect of style",
        alt="; ".join(
            f"{_NAMES[coefficient.feature]}: {number(coefficient.value, 2)}, 95% interval "
            f"{number(coefficient.low, 2)} to {number(coefficient.high, 2)}"
            for coefficient in coefficients
        ),
        traces=[marks],
        height=rows_height(len(coefficients), _ROW),
        layout={
            "yaxis": names_axis([_NAMES[coefficient.feature] for coefficient in coefficients]),
            "xaxis": {"title": {"text": "logits per standard deviation"}},
            "shapes": [vertical_line(0)],
        },
    )


def _systems(arena: StyleControl, suffix: str) -> Table:
    return Table(
        caption=f"Ratings{suffix}",
        columns=("system", "as voted", "95% interval", "at equal style", "95% interval", "change"),
        rows=[
            (
                system.system,
                number(system.plain.rating, 0),
                interval(system.plain.low, system.plain.high),
                number(system.controlled.rating, 0),
                interval(system.controlled.low, system.controlled.high),
                number(system.controlled.rating - system.plain.rating, 0),
            )
            for system in arena.systems
        ],
        folded=True,
    )


def _coefficients(arena: StyleControl, suffix: str) -> Table:
    rows = []
    for effect in arena.effects:
        coefficient = effect.coefficient
        reason = "" if coefficient else f"not held equal: it takes {PER_PARAMETER} votes that differ"
        values = (
            (coefficient.value, coefficient.error, coefficient.low, coefficient.high)
            if coefficient
            else (None, None, None, None)
        )
        rows.append(
            (
                _NAMES[effect.feature],
                *(number(value, 2) for value in values),
                part_of(effect.differs, arena.votes),
                reason,
            )
        )
    return Table(
        caption=f"Coefficients of style{suffix}",
        columns=(
            "feature",
            "coefficient",
            "standard error",
            "95% from",
            "95% to",
            "votes that differ",
            "note",
        ),
        rows=rows,
        text_columns=(6,),
        folded=True,
    )


SECTION = Section(
    name="votes",
    title="What people's votes say, and what they could",
    question="Would style held equal, or more votes, change the order?",
    parts=(Part("style", compute_style, draw_style), Part("combined", compute_combined, draw_combined)),
)
