"""Human votes extended by automatic ones, and what to ask next, drawn."""

from collections.abc import Sequence

from nuggetstream.figures.charts import (
    GREEN,
    ORANGE,
    PURPLE,
    Rated,
    rating_words,
    ratings_figure,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import integer, many, number, percent
from nuggetstream.ratings.advice import Advice
from nuggetstream.ratings.combined_standing import CombinedStanding, EstimateState
from nuggetstream.report.blocks import Block, Figures, Notice, NotMeasured, Table
from nuggetstream.report.numbers.combined import ArenaCombined, LensCombined
from nuggetstream.report.section import Content

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
        for estimate in arena.lenses:
            if estimate.systems:
                charts[f"{estimate.lens}{suffix}"] = (_chart(estimate),)
            rest += [*_notices(estimate, suffix), *_table(estimate, suffix)]
        rest += _next(arena, suffix)
    blocks: list[Block] = [Figures("Automatic lens", charts)] if charts else []
    return Content(
        findings=_findings(arenas[0].lenses[0], arenas[0].next),
        reading="Prediction-powered estimates: where a battle has both votes, the human one shows how the "
        "automatic one errs, and that error is taken off the estimate from all battles. The weight λ of "
        "the automatic votes runs from 0, where they add nothing, to 1. The automatic estimate alone is "
        "narrow and may be wrong. The combined estimate is right as long as the battles with a human vote "
        "are a random sample of all. Intervals are 95% and take battles as independent, so with several "
        "battles per query they are too narrow rather than too wide. The human estimate here rests only on "
        "battles that the automatic lens has scored too.",
        basis=_basis(arenas),
        blocks=(*blocks, *rest),
    )


def _basis(arenas: Sequence[ArenaCombined]) -> str:
    if len(arenas) > 1:
        return many(len(arenas), "arena")
    return ", ".join(
        f"{estimate.lens}: {integer(estimate.both)} with both votes, {integer(estimate.automatic_only)} "
        "automatic only"
        for estimate in arenas[0].lenses
    )


def _findings(first: LensCombined, advice: Advice) -> tuple[str, ...]:
    parts = []
    if first.tuning is not None and first.automatic_only:
        count = many(first.automatic_only, "further vote")
        verb = "counts" if first.automatic_only == 1 else "count"
        parts.append(
            f"{count} of the {first.lens} lens {verb} with a weight of λ = {number(first.tuning, 2)}."
        )
    if advice.next:
        best = advice.next[0]
        parts.append(f"The next human vote tells most between {best.a} and {best.b}.")
    return tuple(parts)


def _ways(system: CombinedStanding) -> tuple[Rated | None, ...]:
    return system.human, system.automatic, system.combined


def _chart(estimate: LensCombined) -> Figure:
    title = f"Ratings three ways: people and the {estimate.lens} lens"
    return ratings_figure(
        title, {system.system: _ways(system) for system in estimate.systems}, _WAYS, _ROW, 0.5
    )


def _notices(estimate: LensCombined, suffix: str) -> list[Block]:
    """Why an estimate is missing, and what few automatic votes mean."""
    name = f"The {estimate.lens} lens{suffix}"
    if not estimate.systems:
        why = estimate.note
        return [NotMeasured(f"people's votes combined with those of the {estimate.lens} lens{suffix}", why)]
    texts = []
    if estimate.automatic_only < 2 and estimate.tuning is not None:
        have = many(estimate.automatic_only, "battle has", "battles have")
        texts.append(
            f"{have} its vote and no human one. It takes 2 to add anything, so the combined estimate is "
            "that of people alone."
        )
    for way, state in estimate.states.items():
        if state is not EstimateState.RATED:
            texts.append(f"no {way} estimate. {state.words}")
    return [Notice(f"{name}: {text}") for text in texts]


def _table(estimate: LensCombined, suffix: str) -> list[Table]:
    if not estimate.systems:
        return []
    return [
        Table(
            caption=f"People and the {estimate.lens} lens{suffix}",
            columns=("system", *(name for name, _, _ in _WAYS)),
            rows=[(system.system, *map(rating_words, _ways(system))) for system in estimate.systems],
            note=f"λ = {number(estimate.tuning, 2)}; {many(estimate.both, 'battle')} with both votes, "
            f"{integer(estimate.automatic_only)} with an automatic one only.",
            folded=True,
        )
    ]


def _next(arena: ArenaCombined, suffix: str) -> list[Block]:
    advice = arena.next
    if advice.missing:
        return [NotMeasured(f"what to ask people next{suffix}", advice.missing)]
    ask = [(f"{pair.a} and {pair.b}", percent(pair.shrinkage, 2)) for pair in advice.next]
    needed = [
        (
            f"{pair.above} over {pair.below}",
            pair.state.words if pair.needed is None else integer(pair.needed),
        )
        for pair in advice.neighbours
    ]
    basis = f"Estimated from {arena.basis}."
    return [
        Table(
            caption=f"What to ask people next{suffix}",
            columns=("systems", "variance that one vote removes"),
            rows=ask,
            note=f"{basis} As a share of the summed variance of all strengths.",
        ),
        Table(
            caption=f"Votes needed to tell neighbours apart{suffix}",
            columns=("neighbours", "further direct votes"),
            rows=needed,
            note=(
                f"{basis} At a level of 95% with a power of 80%, "
                "if the difference is as large as estimated now."
            ),
            folded=True,
        ),
    ]
