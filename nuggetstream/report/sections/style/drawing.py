"""The human lens at equal style."""

from collections.abc import Sequence

from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import (
    BLUE,
    GREY,
    ORANGE,
    figure,
    marks_with_intervals,
    names_axis,
    offset,
    rows_height,
)
from nuggetstream.report.section import Content
from nuggetstream.report.sections.style.numbers import PER_PARAMETER, StyleControl
from nuggetstream.report.strengths import Rated
from nuggetstream.report.wording import ends, number, of, whole

_NAMES = {
    "length": "length in characters",
    "citations": "citations",
    "headers": "headers",
    "lists": "list items",
    "bold": "bold passages",
}


_WISHES = {  # what a coefficient above and below zero means
    "length": ("longer answers", "shorter answers"),
    "citations": ("more citations", "fewer citations"),
    "headers": ("more headers", "fewer headers"),
    "lists": ("more list items", "fewer list items"),
    "bold": ("more bold passages", "fewer bold passages"),
}


def draw(found: Sequence[StyleControl]) -> Content:
    """Ratings with and without style held equal, and what style was worth."""
    several = len(found) > 1
    able = [each for each in found if each.missing is None]
    charts = {each.arena: (_ratings(each), _effects(each)) for each in able}
    blocks: list[Block] = [Figures("Arena" if several else "", charts)] if charts else []
    for each in found:
        suffix = f", {each.arena}" if several else ""
        if each.missing:
            blocks.append(State(f"No style control{suffix}: {each.missing}."))
            continue
        blocks += [_systems(each, suffix), _coefficients(each, suffix)]
        if _is_few(each):
            blocks.append(State(_few(each, suffix)))
    return Content(
        finding=" ".join(_finding(each) for each in able[:1]),
        reading="Strengths and coefficients of style are fitted together to the human votes (logistic "
        "regression on the relative differences of length, citations, headers, lists and bold passages). A "
        "coefficient is in logits per standard deviation of the difference: above 0, more of it was "
        "preferred. Its odds are e to that power. Intervals are 95%, from a sandwich that takes whole "
        "queries as independent (with few queries they are too narrow), so the ratings as voted differ a "
        "little from the resampled ones above. Style is held equal, not removed: an answer may be longer "
        "because it says more.",
        basis=", ".join(
            f"{of(each.votes, each.received)} with a usable vote, {whole(each.queries)} queries"
            for each in found[:1]
        )
        if not several
        else f"{whole(sum(each.votes for each in found))} votes in {len(found)} arenas",
        blocks=tuple(blocks),
    )


def _is_few(each: StyleControl) -> bool:
    return each.votes < PER_PARAMETER * each.parameters


def _few(each: StyleControl, suffix: str) -> str:
    return (
        f"{whole(each.votes)} votes for {each.parameters} numbers to be found{suffix}: fewer than "
        f"{PER_PARAMETER} each, so read them as a hint."
    )


def _finding(each: StyleControl) -> str:
    clear = [
        _WISHES[c.feature][c.value < 0]
        for c in (effect.coefficient for effect in each.effects)
        if c and c.value is not None and c.low is not None and c.high is not None and c.low * c.high > 0
    ]
    said = f"People preferred {' and '.join(clear)}" if clear else "No feature of style shows a clear effect"
    before = [system.system for system in each.systems]
    after = [x.system for x in sorted(each.systems, key=lambda x: (-x.controlled.rating, x.system))]
    moved = sum(one != other for one, other in zip(before, after, strict=True))
    order = f"{moved} of {len(before)} places change" if moved else "the order stays the same"
    hint = " There are few votes for so many numbers: a hint." if _is_few(each) else ""
    return f"{said}; with style held equal {order}.{hint}"


def _ratings(each: StyleControl) -> Figure:
    sides: tuple[tuple[str, list[Rated], str, str], ...] = (
        ("as voted", [x.plain for x in each.systems], ORANGE, "circle"),
        ("at equal style", [x.controlled for x in each.systems], BLUE, "diamond"),
    )
    traces = [
        marks_with_intervals(
            name,
            [x.rating for x in ratings],
            [row + offset(place, 2, 0.3) for row in range(len(ratings))],
            [x.low for x in ratings],
            [x.high for x in ratings],
            marker={"color": colour, "symbol": symbol, "size": 11},
            customdata=[ends(x.low, x.high) for x in ratings],
            hovertemplate="%{x:.0f} (%{customdata})",
        )
        for place, (name, ratings, colour, symbol) in enumerate(sides)
    ]
    alt = "; ".join(
        f"{x.system}: {x.plain.rating:.0f} as voted, {x.controlled.rating:.0f} at equal style"
        for x in each.systems
    )
    axes = {"yaxis": names_axis([x.system for x in each.systems]), "xaxis": {"title": {"text": "rating"}}}
    return figure("Human lens with 95% intervals", alt, traces, rows_height(len(each.systems), 44), axes)


def _effects(each: StyleControl) -> Figure:
    known = [x.coefficient for x in each.effects if x.coefficient and x.coefficient.value is not None]
    points = marks_with_intervals(
        "coefficient",
        [x.value or 0.0 for x in known],
        list(range(len(known))),
        [x.low or 0.0 for x in known],
        [x.high or 0.0 for x in known],
        marker={"color": BLUE, "symbol": "diamond", "size": 11},
        hovertemplate="%{x:.2f} logits<extra></extra>",
    )
    zero = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {
        "yaxis": names_axis([_NAMES[x.feature] for x in known]),
        "xaxis": {"title": {"text": "logits per standard deviation"}},
        "shapes": [{**zero, "line": {"color": GREY, "dash": "dot", "width": 1.5}}],
    }
    alt = "; ".join(
        f"{_NAMES[x.feature]}: {number(x.value)}, 95% {number(x.low)} to {number(x.high)}" for x in known
    )
    return figure("What style was worth", alt, [points], rows_height(len(known), 44), layout)


def _systems(each: StyleControl, suffix: str) -> Table:
    rows = [
        (
            x.system,
            number(x.plain.rating, 0),
            ends(x.plain.low, x.plain.high),
            number(x.controlled.rating, 0),
            ends(x.controlled.low, x.controlled.high),
            number(x.controlled.rating - x.plain.rating, 0),
        )
        for x in each.systems
    ]
    columns = ("system", "as voted", "95%", "at equal style", "95%", "change")
    return Table(f"Ratings{suffix}", columns, rows, folded=True)


def _coefficients(each: StyleControl, suffix: str) -> Table:
    rows = []
    for effect in each.effects:
        found = effect.coefficient
        reason = "" if found else f"not held equal: it takes {PER_PARAMETER} votes that differ"
        cells = (
            (None, None, None, None) if found is None else (found.value, found.error, found.low, found.high)
        )
        rows.append(
            (
                _NAMES[effect.feature],
                *(number(value) for value in cells),
                of(effect.differs, each.votes, ""),
                reason,
            )
        )
    columns = ("feature", "coefficient", "error", "low", "high", "votes that differ", "")
    return Table(f"Coefficients of style{suffix}", columns, rows, text_columns=(6,), folded=True)
