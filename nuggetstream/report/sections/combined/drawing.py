"""Human votes stretched by automatic ones, and what to ask next."""

from collections.abc import Sequence

from nuggetstream.files.numerals import MISSING
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import (
    GREEN,
    ORANGE,
    PURPLE,
    figure,
    marks_with_intervals,
    names_axis,
    offset,
    rows_height,
)
from nuggetstream.report.section import Content
from nuggetstream.report.sections.combined.numbers import ArenaCombined, Combined, NextVotes, ThreeWays
from nuggetstream.report.strengths import FLAT, Rated
from nuggetstream.report.wording import ends, many, number, percent, whole

_WAYS = (
    ("human votes alone", ORANGE, "circle"),
    ("automatic votes alone", GREEN, "square"),
    ("combined", PURPLE, "diamond"),
)
_ROW = 52


def draw(found: Sequence[ArenaCombined]) -> Content:
    """Three estimates side by side per automatic lens, and advice per arena."""
    several = len(found) > 1
    charts: dict[str, tuple[Figure, ...]] = {}
    rest: list[Block] = []
    for arena in found:
        suffix = f", {arena.arena}" if several else ""
        for each in arena.powered:
            if each.missing is None:
                charts[f"{each.lens}{suffix}"] = (_chart(each),)
            rest += [*_states(each, suffix), *_table(each, suffix)]
        rest += _next(arena.next, suffix)
    blocks: list[Block] = [Figures("Automatic lens", charts)] if charts else []
    first = found[0].powered
    return Content(
        finding=_finding(first[0], found[0].next),
        reading="Prediction-powered estimates: where both votes exist, people show how the automatic ones "
        "err, and that error is taken off the estimate from all battles. Trust (λ) runs from 0 (automatic "
        "votes add nothing) to 1. The automatic estimate alone is narrow and may be wrong; the combined "
        "one is right as long as the battles with a human vote are a random sample of all. Intervals are "
        "95% and take battles as independent, so with several battles per query they are on the narrow "
        "side. The human estimate here rests only on battles that the automatic lens has scored too.",
        basis=", ".join(
            f"{each.lens}: {whole(each.humans)} with both votes, {whole(each.automatics)} automatic only"
            for each in first
        )
        if not several
        else f"{len(found)} arenas",
        blocks=(*blocks, *rest),
    )


def _finding(first: Combined, advice: NextVotes) -> str:
    parts = []
    if first.trust is not None and first.automatics:
        parts.append(
            f"{many(first.automatics, 'further vote')} of the {first.lens} lens "
            f"{'goes' if first.automatics == 1 else 'go'} in with a trust of "
            f"{number(first.trust)}."
        )
    if advice.ask:
        best = advice.ask[0]
        parts.append(f"The next human vote helps most between {best.first} and {best.second}.")
    return " ".join(parts)


def _ways(each: ThreeWays) -> tuple[Rated | None, ...]:
    return each.human, each.automatic, each.combined


def _chart(each: Combined) -> Figure:
    traces = []
    for place, (name, colour, symbol) in enumerate(_WAYS):
        known = [(row, x) for row, system in enumerate(each.systems) if (x := _ways(system)[place])]
        if not known:
            continue
        traces.append(
            marks_with_intervals(
                name,
                [x.rating for _, x in known],
                [row + offset(place, len(_WAYS)) for row, _ in known],
                [x.low for _, x in known],
                [x.high for _, x in known],
                marker={"color": colour, "symbol": symbol, "size": 11},
                customdata=[ends(x.low, x.high) for _, x in known],
                hovertemplate="%{x:.0f} (%{customdata})",
            )
        )
    alt = "; ".join(
        f"{system.system}: "
        + ", ".join(f"{name} {_interval(x)}" for (name, _, _), x in zip(_WAYS, _ways(system), strict=True))
        for system in each.systems
    )
    layout = {
        "yaxis": names_axis([system.system for system in each.systems]),
        "xaxis": {"title": {"text": "rating"}},
    }
    title = f"Ratings three ways: people and the {each.lens} lens"
    return figure(title, alt, traces, rows_height(len(each.systems), _ROW), layout)


def _interval(found: Rated | None) -> str:
    if found is None:
        return MISSING
    return f"{number(found.rating, 0)} ({ends(found.low, found.high)})"


def _states(each: Combined, suffix: str) -> list[State]:
    name = f"The {each.lens} lens{suffix}"
    if each.missing:
        return [State(f"{name}: no combined estimate, because {each.missing}.")]
    states = []
    if each.automatics < 2:
        had = f"{many(each.automatics, 'battle')} {'has' if each.automatics == 1 else 'have'}"
        text = f"{name}: {had} its vote and no human one; it takes 2 to add "
        states.append(State(f"{text}anything, so the combined estimate is people's alone."))
    if each.flat:
        text = f"{name}: no {' and no '.join(each.flat)} estimate, because {FLAT}."
        states.append(State(text))
    if each.systems[0].human is None and "human" not in each.flat:
        text = f"{name}: the human votes on its battles cannot rank all of its {len(each.systems)} systems."
        states.append(State(text))
    if each.systems[0].combined is None and "combined" not in each.flat:
        states.append(State(f"{name}: the combined estimate has no finite solution yet."))
    return states


def _table(each: Combined, suffix: str) -> list[Table]:
    if each.missing:
        return []
    rows = [(system.system, *map(_interval, _ways(system))) for system in each.systems]
    note = f"Trust λ = {number(each.trust)}; {many(each.humans, 'battle')} with both votes, "
    note += f"{whole(each.automatics)} with an automatic one only."
    columns = ("system", *(name for name, _, _ in _WAYS))
    return [Table(f"People and the {each.lens} lens{suffix}", columns, rows, note, folded=True)]


def _next(advice: NextVotes, suffix: str) -> list[Block]:
    if advice.missing:
        return [State(f"What to ask next{suffix}: not known, because {advice.missing}.")]
    asked = [(f"{each.first} and {each.second}", percent(each.shrinkage, 2)) for each in advice.ask]
    needed = [
        (
            f"{each.upper} over {each.lower}",
            "no number: they look equal" if each.votes is None else whole(each.votes),
        )
        for each in advice.needed
    ]
    basis = f"From {advice.basis}."
    return [
        Table(
            f"What to ask people next{suffix}",
            ("systems", "variance that one vote takes away"),
            asked,
            f"{basis} Share of the summed variance of all strengths.",
        ),
        Table(
            f"Votes needed to tell neighbours apart{suffix}",
            ("neighbours", "further direct votes"),
            needed,
            f"{basis} At 95%, with a chance of 80%, if the difference is what it looks like now.",
            folded=True,
        ),
    ]
