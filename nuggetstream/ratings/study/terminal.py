"""A study of votes as tables for a terminal."""

from collections.abc import Iterator
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nuggetstream.files.cells import named
from nuggetstream.files.numerals import (
    MISSING,
    between,
    count,
    fixed,
    level,
    many,
    number,
    percent,
)
from nuggetstream.ratings.advice import Advice
from nuggetstream.ratings.combined import Combined
from nuggetstream.ratings.combined_standing import Rating
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.standing import Fragility
from nuggetstream.ratings.study.run import Study
from nuggetstream.ratings.study.tournament import Tournament, WonOutright
from nuggetstream.ratings.style import EqualStyle
from nuggetstream.ratings.terminal import bounds, grid, leaderboard
from nuggetstream.ratings.timeline import Period
from nuggetstream.ratings.win_rates import Share, win_rates

_WAYS = ("human", "automatic", "combined")


def render(study: Study) -> RenderableType:
    """Everything that a study found, the board first and what it rests on after it."""
    weighted = ", weighted" if study.weighted else ""
    board = leaderboard("Leaderboard", study.ratings.standings, weighted=weighted)
    parts: list[RenderableType] = [board, *_basis(study)]
    if study.periods:
        parts += ["", _over_time(study)]
    if (styled := study.ratings.equal_style) is not None:
        parts += ["", *_style(styled)]
    for tournament in study.tournaments:
        parts += ["", *_tournament(tournament)]
    if study.outright is not None:
        parts += ["", _outright(study.outright)]
    if study.advice is not None:
        parts += ["", *_advice(study.advice)]
    if (combined := study.ratings.combined) is not None:
        parts += ["", *_combined(study, combined)]
    return Group(*(Text(part) if isinstance(part, str) else part for part in parts))


def _basis(study: Study) -> Iterator[str]:
    """What the ratings rest on, one line each."""
    ratings, reading = study.ratings, study.options.reading
    options = study.options.rating
    shares = {share.source: share for share in ratings.shares}
    for weighed in study.sources:
        source = weighed.source
        line = f"from {source.name}: {many(source.cast, 'vote')} in {many(source.rows, 'row')}"
        if shares:
            share = percent(shares[source.name].share)
            line += f", weight {weighed.weight:g}, {share} of the total weight"
        yield line
    for column, value in reading.where:
        yield f"only rows in which {column} is {value}"
    tie = "" if ratings.tie_parameter is None else f", tie parameter {ratings.tie_parameter:.3f}"
    yield f"ties: {options.policy.value}{tie}; anchor: {_anchor(study)}"
    if options.source is Intervals.SANDWICH:
        yield f"intervals: {level(options.level)}, sandwich with Student's t{_clusters(study)}"
    else:
        unranked = ratings.unranked_resamples
        yield (
            f"intervals: {level(options.level)}, {options.drawing.value} bootstrap{_clusters(study)}, "
            f"{options.draws:,} resamples{f', {unranked:,} of them unranked' if unranked else ''}, "
            f"seed {options.seed}"
        )
    if any(standing.rank is not None for standing in ratings.standings):
        kept = level(options.level)
        yield f"ranks: {kept} for all systems together (Holm); each interval stands for itself"
    if study.rows_without_vote:
        yield (
            f"note: {many(study.rows_without_vote, 'row')} without an outcome were left out; "
            "they are neither votes nor ties"
        )
    for note in ratings.notes:
        yield f"note: {note.text}"
    if sentence := fragility_in_words(ratings.fragility):
        yield f"fragility: {sentence}"


def fragility_in_words(fragility: Fragility) -> str | None:
    """How few votes decide the first place, as a sentence; None where nobody is first."""
    if fragility.leader is None:
        return None
    if fragility.drops is None or fragility.share is None:
        return f"{fragility.reason}." if fragility.reason else None
    dropped = many(fragility.drops, "vote")
    share = f"{fragility.share:.2%}" if fragility.share < 0.01 else percent(fragility.share)
    return (
        f"without {dropped} of {fragility.votes:,.0f} ({share}), {fragility.successor} would be rated above "
        f"{fragility.leader}."
    )


def _over_time(study: Study) -> Table:
    """Ratings of every period side by side."""
    every = study.options.every
    kind = "all votes up to the end of each" if study.options.cumulative else "each"
    periods = study.periods
    labels = [_label(period, cumulative=study.options.cumulative) for period in periods]
    strengths = [{} if period.rating is None else _rating_by_system(period.rating) for period in periods]
    ratings = (
        (named(standing.system), *(number(own.get(standing.system), 0) for own in strengths))
        for standing in study.ratings.standings
    )
    votes = ("votes", *(count(period.votes) for period in periods))
    return grid(f"Ratings over time, {kind} {every}", ["system", *labels], [*ratings, votes])


def _rating_by_system(ratings: Ratings) -> dict[str, float]:
    return {standing.system: standing.rating for standing in ratings.standings if standing.rating is not None}


def _label(period: Period[Ratings], *, cumulative: bool) -> str:
    day = period.end - timedelta(days=1) if cumulative else period.start
    return f"to {day.date().isoformat()}" if cumulative else day.date().isoformat()


def _anchor(study: Study) -> str:
    anchor = study.ratings.options.anchor
    return "none, the mean is 1000" if anchor is None else f"{anchor.system} at {anchor.rating:g}"


def _clusters(study: Study) -> str:
    column = study.options.reading.columns.cluster
    return f" over {study.clusters:,} clusters ({column})" if study.clusters is not None else ""


def _style(styled: EqualStyle) -> Iterator[RenderableType]:
    if styled.missing:
        yield f"At equal style: no answer: {styled.missing}"
        return
    yield grid(
        "At equal style",
        ("rank", "system", "rating", "interval"),
        ((str(own.rank), named(own.system), number(own.rating, 0), bounds(own)) for own in styled.standings),
    )
    if styled.unranked:
        yield f"not rankable yet: {', '.join(styled.unranked)}"
    yield ""
    yield grid(
        "What style is worth (logits per standard deviation)",
        ("feature", "coefficient", "interval"),
        (
            (
                named(own.feature),
                "never differs" if own.value is None else number(own.value, 2),
                MISSING if own.low is None else f"{number(own.low, 2)} to {number(own.high, 2)}",
            )
            for own in styled.coefficients
        ),
    )


def _tournament(tournament: Tournament) -> Iterator[RenderableType]:
    title = f"Elo, {tournament.rounds} tournaments ({tournament.arithmetic.value})"
    if tournament.missing:
        yield f"{title}: no answer: {tournament.missing}"
        return
    yield grid(
        title,
        ("system", "rating", "± order", "games"),
        (
            (named(own.system), number(own.rating, 0), number(own.deviation, 1), f"{own.games:,}")
            for own in tournament.players
        ),
    )
    if tournament.islands:
        yield f"note: these groups never met, so Elo does not compare them either: {tournament.islands}"


def _outright(outright: WonOutright) -> Table:
    rows = (
        (named(name), *(number(share, 0) for share in shares))
        for name, shares in zip(outright.systems, outright.percent, strict=True)
    )
    return grid("Won outright, %", ["system", *map(named, outright.systems)], rows)


def _advice(advice: Advice) -> Iterator[RenderableType]:
    if advice.missing:
        yield f"What to ask next: no answer: {advice.missing}"
        return
    basis = f"{level(advice.level)} interval, power {level(advice.power)}"
    yield grid(
        f"Battles until neighbours can be told apart ({basis})",
        ("pair", "gap", "battles so far", "still needed"),
        (
            (
                _pair(pair.above, pair.below),
                number(pair.gap, 0),
                count(pair.battles),
                pair.state.words if pair.needed is None else f"{pair.needed:,}",
            )
            for pair in advice.neighbours
        ),
    )
    yield ""
    yield grid(
        "Battles that narrow the intervals most",
        ("pair", "battles so far", "variance removed by one more"),
        (
            (_pair(battle.a, battle.b), count(battle.battles), f"{battle.shrinkage:.2%}")
            for battle in advice.next
        ),
    )


def _combined(study: Study, combined: Combined) -> Iterator[RenderableType]:
    joint = study.ratings.joint
    assert joint is not None  # noqa: S101 - there would be no combination
    yield grid(
        "Win rates by people, by the automatic votes, and by both",
        ("system", *_WAYS, "λ"),
        (
            (named(rate.system), *map(_share, (getattr(rate, way) for way in _WAYS)), number(rate.tuning, 2))
            for rate in win_rates(joint, study.options.rating.level)
        ),
    )
    yield ""
    yield grid(
        "Ratings by people, by the automatic votes, and by both",
        ("system", *_WAYS, "remark"),
        (
            (named(own.system), *map(_rating, (getattr(own, way) for way in _WAYS)), own.unrankable or "")
            for own in combined.standings
        ),
    )
    yield ""
    weight = "" if combined.tuning is None else f" with a weight of λ = {number(combined.tuning, 2)}"
    yield (
        f"{many(joint.both, 'battle')} with both votes; {joint.automatics - joint.both:,} with an automatic "
        f"vote only, which count{weight}; {joint.humans - joint.both:,} with a human vote only are left out"
    )
    yield f"note: {combined.note}"


def _share(share: Share | None) -> str:
    if share is None:
        return MISSING
    value = f"{fixed(100 * share.value, 1)}%"
    if share.low is None or share.high is None:
        return f"{value} ({share.interval_state.words})"
    return f"{value} ({between(fixed(100 * share.low, 1), fixed(100 * share.high, 1))})"


def _rating(rating: Rating | None) -> str:
    return MISSING if rating is None else f"{fixed(rating.rating)} ({bounds(rating)})"


def _pair(first: str, second: str) -> str:
    return f"{named(first)} and {named(second)}"
