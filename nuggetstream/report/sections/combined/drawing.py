"""Human votes extended by automatic ones, and what to ask next, drawn."""

from collections.abc import Sequence

from nuggetstream.files.numerals import MISSING, integer, interval, many, number, percent
from nuggetstream.report.blocks import Block, Figure, Figures, Notice, Table
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
from nuggetstream.report.strengths import NO_SPREAD, Rated

_WAYS = (
    ("human votes alone", ORANGE, "circle"),
    ("automatic votes alone", GREEN, "square"),
    ("combined", PURPLE, "diamond"),
)
_ROW = 52


def draw(arenas: Sequence[ArenaCombined]) -> Content:
    """Three estimates side by side per automatic lens, and advice per arena."""
    several = len(arenas) > 1
    charts: dict[str, tuple[Figure, ...]] = {}
    rest: list[Block] = []
    for arena in arenas:
        suffix = f", {arena.arena}" if several else ""
        for estimate in arena.powered:
            if estimate.missing is None:
                charts[f"{estimate.lens}{suffix}"] = (_chart(estimate),)
            rest += [*_notices(estimate, suffix), *_table(estimate, suffix)]
        rest += _next(arena.next, suffix)
    blocks: list[Block] = [Figures("Automatic lens", charts)] if charts else []
    return Content(
        finding=_finding(arenas[0].powered[0], arenas[0].next),
        reading="Prediction-powered estimates: where a battle has both votes, the human one shows how the "
        "automatic one errs, and that error is taken off the estimate from all battles. Trust (λ) runs "
        "from 0, where automatic votes add nothing, to 1. The automatic estimate alone is narrow and may "
        "be wrong. The combined estimate is right as long as the battles with a human vote are a random "
        "sample of all. Intervals are 95% and take battles as independent, so with several battles per "
        "query they are too narrow rather than too wide. The human estimate here rests only on battles "
        "that the automatic lens has scored too.",
        basis=_basis(arenas),
        blocks=(*blocks, *rest),
    )


def _basis(arenas: Sequence[ArenaCombined]) -> str:
    if len(arenas) > 1:
        return many(len(arenas), "arena")
    return ", ".join(
        f"{estimate.lens}: {integer(estimate.humans)} with both votes, {integer(estimate.automatics)} "
        "automatic only"
        for estimate in arenas[0].powered
    )


def _finding(first: Combined, advice: NextVotes) -> str:
    parts = []
    if first.trust is not None and first.automatics:
        count = many(first.automatics, "further vote")
        verb = "counts" if first.automatics == 1 else "count"
        parts.append(f"{count} of the {first.lens} lens {verb} with a trust of {number(first.trust, 2)}.")
    if advice.ask:
        best = advice.ask[0]
        parts.append(f"The next human vote tells most between {best.first} and {best.second}.")
    return " ".join(parts)


def _ways(system: ThreeWays) -> tuple[Rated | None, ...]:
    return system.human, system.automatic, system.combined


def _chart(estimate: Combined) -> Figure:
    traces = []
    for index, (name, colour, symbol) in enumerate(_WAYS):
        known = [
            (row, rating) for row, system in enumerate(estimate.systems) if (rating := _ways(system)[index])
        ]
        if not known:
            continue
        traces.append(
            marks_with_intervals(
                name,
                [rating.rating for _, rating in known],
                [row + offset(index, len(_WAYS)) for row, _ in known],
                [rating.low for _, rating in known],
                [rating.high for _, rating in known],
                marker={"color": colour, "symbol": symbol, "size": 11},
                customdata=[interval(rating.low, rating.high) for _, rating in known],
                hovertemplate="%{x:.0f} (%{customdata})",
            )
        )
    alt = "; ".join(
        f"{system.system}: "
        + ", ".join(
            f"{name} {_rating(rating)}" for (name, _, _), rating in zip(_WAYS, _ways(system), strict=True)
        )
        for system in estimate.systems
    )
    layout = {
        "yaxis": names_axis([system.system for system in estimate.systems]),
        "xaxis": {"title": {"text": "rating"}},
    }
    title = f"Ratings three ways: people and the {estimate.lens} lens"
    return figure(title, alt, traces, rows_height(len(estimate.systems), _ROW), layout)


def _rating(rating: Rated | None) -> str:
    if rating is None:
        return MISSING
    return f"{number(rating.rating, 0)} ({interval(rating.low, rating.high)})"


def _notices(estimate: Combined, suffix: str) -> list[Notice]:
    name = f"The {estimate.lens} lens{suffix}"
    if estimate.missing:
        return [Notice(f"{name}: no combined estimate, because {estimate.missing}.")]
    texts = []
    if estimate.automatics < 2:
        have = many(estimate.automatics, "battle has", "battles have")
        texts.append(
            f"{have} its vote and no human one. It takes 2 to add anything, so the combined estimate is "
            "that of people alone."
        )
    if estimate.degenerate:
        texts.append(f"no {' and no '.join(estimate.degenerate)} estimate, because {NO_SPREAD}.")
    if estimate.systems[0].human is None and "human" not in estimate.degenerate:
        systems = many(len(estimate.systems), "system")
        texts.append(f"the human votes on its battles cannot rank all of its {systems}.")
    if estimate.systems[0].combined is None and "combined" not in estimate.degenerate:
        texts.append("the combined estimate has no finite solution yet.")
    return [Notice(f"{name}: {text}") for text in texts]


def _table(estimate: Combined, suffix: str) -> list[Table]:
    if estimate.missing:
        return []
    rows = [(system.system, *map(_rating, _ways(system))) for system in estimate.systems]
    note = (
        f"Trust λ = {number(estimate.trust, 2)}; {many(estimate.humans, 'battle')} with both votes, "
        f"{integer(estimate.automatics)} with an automatic one only."
    )
    columns = ("system", *(name for name, _, _ in _WAYS))
    return [Table(f"People and the {estimate.lens} lens{suffix}", columns, rows, note, folded=True)]


def _next(advice: NextVotes, suffix: str) -> list[Block]:
    if advice.missing:
        return [Notice(f"What to ask people next{suffix}: not known, because {advice.missing}.")]
    ask = [(f"{pair.first} and {pair.second}", percent(pair.shrinkage, 2)) for pair in advice.ask]
    needed = [
        (
            f"{pair.upper} over {pair.lower}",
            "no number: they look equal" if pair.votes is None else integer(pair.votes),
        )
        for pair in advice.needed
    ]
    basis = f"Estimated from {advice.basis}."
    return [
        Table(
            f"What to ask people next{suffix}",
            ("systems", "variance that one vote takes away"),
            ask,
            f"{basis} As a share of the summed variance of all strengths.",
        ),
        Table(
            f"Votes needed to tell neighbours apart{suffix}",
            ("neighbours", "further direct votes"),
            needed,
            f"{basis} At a level of 95% with a power of 80%, if the difference is as large as estimated now.",
            folded=True,
        ),
    ]
