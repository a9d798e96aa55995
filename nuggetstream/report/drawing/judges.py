"""The judge's audit."""

from collections.abc import Sequence

from nuggetstream.report.blocks import Block, Figure, Figures, Section, State, Table
from nuggetstream.report.drawing.style import (
    GREEN,
    GREY,
    figure,
    interval,
    names_axis,
    rows_height,
    share_axis,
)
from nuggetstream.report.drawing.words import FEW_NOTE, of, percent, share_of, span
from nuggetstream.report.numbers.judges import Audit
from nuggetstream.statistics.share import Share


def draw(found: Sequence[Audit]) -> Section:
    """Flips, ties and the preferences a judge should not have."""
    blocks: list[Block] = (
        [] if found else [State("No battle has a judge's verdict: there is nothing to audit.")]
    )
    charts = {f"{each.evaluator}, {each.model}": (_chart(each),) for each in found}
    if charts:
        blocks.append(Figures("Judge" if len(charts) > 1 else "", charts))
    for each in found:
        blocks += [_table(each), *_states(each)]
    return Section(
        name="judge",
        title="The judge, audited",
        question="Does the judge keep its mind, and does it like answers for the wrong reason?",
        finding=" ".join(_finding(each) for each in found),
        reading="A flip is a verdict that changes when the answers swap places; flips count as ties. An "
        "even-handed judge prefers the answer shown first half of the time. A taste for the longer answer "
        "is not wrong in itself, so the same share for people stands beside it.",
        basis="; ".join(f"{each.evaluator} {of(each.judged, each.received)}" for each in found)
        or "0 battles",
        blocks=tuple(blocks),
    )


def _finding(each: Audit) -> str:
    parts = []
    if each.flipped.value is not None:
        parts.append(f"changes its mind with the order in {share_of(each.flipped)}")
    if each.longer.value is not None:
        people = percent(each.people_longer.value)
        parts.append(f"prefers the longer answer in {percent(each.longer.value)} (people: {people})")
    return f"The {each.evaluator} judge {' and '.join(parts)}." if parts else ""


def _measures(each: Audit) -> dict[str, Share]:
    shares = {
        "flips with the order": each.flipped,
        "ties": each.tied,
        "prefers the answer shown first": each.first_shown,
        "prefers the longer answer": each.longer,
        "people prefer the longer answer": each.people_longer,
    }
    if each.own is not None:
        shares["judge lets its own model win"] = each.own.by_judge
        shares["people let that model win"] = each.own.by_people
    return shares


def _chart(each: Audit) -> Figure:
    shares = _measures(each)
    known = [(i, x) for i, x in enumerate(shares.values()) if x.value is not None]
    points = interval(
        "share",
        [x.value or 0.0 for _, x in known],
        [i for i, _ in known],
        [x.low or 0.0 for _, x in known],
        [x.high or 0.0 for _, x in known],
        marker={"color": GREEN, "symbol": "square", "size": 11},
        customdata=[(x.count, x.of) for _, x in known],
        hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]})<extra></extra>",
    )
    half = {"type": "line", "x0": 0.5, "x1": 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {
        "yaxis": names_axis(list(shares)),
        "xaxis": share_axis("share of cases", range=[-0.02, 1.02]),
        "shapes": [{**half, "line": {"color": GREY, "dash": "dot", "width": 1.5}}],
    }
    alt = "; ".join(f"{name}: {share_of(x)}" for name, x in shares.items())
    title = f"{each.evaluator}, {each.model}: {of(each.judged, each.received)}"
    return figure(title, alt, [points], rows_height(len(shares)), layout)


def _table(each: Audit) -> Table:
    rows = [(name, share_of(x), span(x.low, x.high)) for name, x in _measures(each).items()]
    caption = f"{each.evaluator}, {each.model}"
    return Table(caption, ("measure", "share", "95%"), rows, FEW_NOTE, folded=True)


def _states(each: Audit) -> list[State]:
    states = []
    if each.own is None:
        text = f"Self preference: not applicable, because the judge's model ({each.model}) is no system here."
        states.append(State(text))
    if each.flipped.value is None:
        states.append(State(f"Flip rate: no battle was judged in both orders by {each.evaluator}."))
    return states
