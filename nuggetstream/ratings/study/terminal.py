"""A study of votes as tables for a terminal."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nuggetstream.files.cells import named, table
from nuggetstream.files.numerals import (
    MINUS,
    MISSING,
    between,
    chance,
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
from nuggetstream.ratings.standing import Fragility, IntervalState, Standing
from nuggetstream.ratings.study.run import Study
from nuggetstream.ratings.study.tournament import Tournament, WonOutright
from nuggetstream.ratings.style import EqualStyle, EqualStyleStanding
from nuggetstream.ratings.timeline import Period
from nuggetstream.ratings.win_rates import Share, WinRates, win_rates

_TEXT = ("group", "system", "pair", "feature", "remark")


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


def leaderboard(
    title: str, standings: Sequence[Standing], *, weighted: str = "", caption: str | None = None
) -> Table:
    """A board in the order of its standings, with a remark where a system has no rank.

    Args:
        title: Title.
        standings: A row each.
        weighted: Behind the name of the column, where its numbers are weights and not battles.
        caption: Printed below.
    """
    remarks = [standing.remark or "" for standing in standings]
    columns = ["rank", "group", "system", "rating", "interval", "P(first)", f"won-lost-tied{weighted}"]
    columns += ["remark"] if any(remarks) else []
    rows = table(title, *columns, text=_TEXT, caption=caption)
    for standing, words in zip(standings, remarks, strict=True):
        rows.add_row(*_standing(standing), *([words] if any(remarks) else []))
    return rows


def _standing(standing: Standing) -> tuple[str, ...]:
    return (
        MISSING if standing.rank is None else str(standing.rank),
        standing.group or MISSING,
        named(standing.system),
        number(standing.rating, 0),
        bounds(standing),
        chance(standing.probability_first),
        "-".join(map(count, (standing.wins, standing.losses, standing.ties))),
    )


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
    if options.intervals is Intervals.SANDWICH:
        yield f"intervals: {level(options.level)}, sandwich{_clusters(study)}"
    else:
        unranked = ratings.unranked_resamples
        yield (
            f"intervals: {level(options.level)}, {options.bootstrap.value} bootstrap{_clusters(study)}, "
            f"{options.resamples:,} resamples{f', {unranked:,} of them unranked' if unranked else ''}, "
            f"seed {options.seed}"
        )
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
    rows = table(f"Ratings over time, {kind} {every}", "system", *labels, text=_TEXT)
    strengths = [{} if period.rating is None else _rating_by_system(period.rating) for period in periods]
    for standing in study.ratings.standings:
        ratings = (number(by_system.get(standing.system), 0) for by_system in strengths)
        rows.add_row(named(standing.system), *ratings)
    rows.add_row("votes", *(count(period.votes) for period in periods))
    return rows


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
    rows = table("At equal style", "rank", "system", "rating", "interval", text=_TEXT)
    for standing in styled.standings:
        rating = number(standing.rating, 0)
        rows.add_row(str(standing.rank), named(standing.system), rating, bounds(standing))
    yield rows
    if styled.unranked:
        yield f"not rankable yet: {', '.join(styled.unranked)}"
    yield ""
    title = "What style is worth (logits per standard deviation)"
    rows = table(title, "feature", "coefficient", "interval", text=_TEXT)
    for coefficient in styled.coefficients:
        low, high = number(coefficient.low, 2), number(coefficient.high, 2)
        span = MISSING if coefficient.low is None else f"{low} to {high}"
        value = "never differs" if coefficient.value is None else number(coefficient.value, 2)
        rows.add_row(named(coefficient.feature), value, span)
    yield rows


def _tournament(tournament: Tournament) -> Iterator[RenderableType]:
    title = f"Elo, {tournament.rounds} tournaments ({tournament.arithmetic.value})"
    if tournament.missing:
        yield f"{title}: no answer: {tournament.missing}"
        return
    rows = table(title, "system", "rating", "± order", "games", text=_TEXT)
    for player in tournament.players:
        deviation = number(player.deviation, 1)
        rows.add_row(named(player.system), number(player.rating, 0), deviation, f"{player.games:,}")
    yield rows
    if tournament.islands:
        yield f"note: these groups never met, so Elo does not compare them either: {tournament.islands}"


def _outright(outright: WonOutright) -> Table:
    rows = table("Won outright, %", "system", *map(named, outright.systems), text=_TEXT)
    for name, shares in zip(outright.systems, outright.percent, strict=True):
        rows.add_row(named(name), *(number(share, 0) for share in shares))
    return rows


def _advice(advice: Advice) -> Iterator[RenderableType]:
    if advice.missing:
        yield f"What to ask next: no answer: {advice.missing}"
        return
    basis = f"{level(advice.level)} interval, power {level(advice.power)}"
    title = f"Battles until neighbours can be told apart ({basis})"
    rows = table(title, "pair", "gap", "battles so far", "still needed", text=_TEXT)
    for pair in advice.neighbours:
        needed = pair.state.words if pair.needed is None else f"{pair.needed:,}"
        rows.add_row(_pair(pair.above, pair.below), number(pair.gap, 0), count(pair.battles), needed)
    yield rows
    yield ""
    title = "Battles that narrow the intervals most"
    rows = table(title, "pair", "battles so far", "variance removed by one more", text=_TEXT)
    for battle in advice.next:
        rows.add_row(_pair(battle.a, battle.b), count(battle.battles), f"{battle.shrinkage:.2%}")
    yield rows


def _combined(study: Study, combined: Combined) -> Iterator[RenderableType]:
    joint = study.ratings.joint
    assert joint is not None  # noqa: S101 - there would be no combination
    ways = ("human", "automatic", "combined")
    rates = win_rates(joint, study.options.rating.level)
    rows = table("Win rates by people, by the automatic votes, and by both", "system", *ways, "λ", text=_TEXT)
    for rate in rates:
        rows.add_row(named(rate.system), *_shares(rate), number(rate.tuning, 2))
    yield rows
    yield ""
    rows = table(
        "Ratings by people, by the automatic votes, and by both", "system", *ways, "remark", text=_TEXT
    )
    for standing in combined.standings:
        ratings = (standing.human, standing.automatic, standing.combined)
        words = standing.unrankable.value if standing.unrankable else ""
        rows.add_row(named(standing.system), *map(_rating, ratings), words)
    yield rows
    yield ""
    weight = "" if combined.tuning is None else f" with a weight of λ = {number(combined.tuning, 2)}"
    yield (
        f"{many(joint.both, 'battle')} with both votes; {joint.automatics - joint.both:,} with an automatic "
        f"vote only, which count{weight}; {joint.humans - joint.both:,} with a human vote only are left out"
    )
    yield f"note: {combined.note}"


def _shares(rate: WinRates) -> Iterator[str]:
    for share in (rate.human, rate.automatic, rate.combined):
        yield MISSING if share is None else _share(share)


def _share(share: Share) -> str:
    value = f"{fixed(100 * share.value, 1)}%"
    if share.low is None or share.high is None:
        return f"{value} ({share.interval.words})"
    return f"{value} ({between(fixed(100 * share.low, 1), fixed(100 * share.high, 1))})"


def _rating(rating: Rating | None) -> str:
    return MISSING if rating is None else f"{fixed(rating.rating)} ({bounds(rating)})"


def bounds(rated: Standing | EqualStyleStanding | Rating) -> str:
    """The bounds of a rating in print, the words of their state, or a dash without a rating."""
    if rated.interval is None:
        return MISSING
    if rated.interval in (IntervalState.UNBOUNDED, IntervalState.DEGENERATE, IntervalState.FIXED):
        return rated.interval.words
    low = f"{MINUS}∞" if rated.low is None else fixed(rated.low)
    high = "∞" if rated.high is None else fixed(rated.high)
    return between(low, high)


def _pair(first: str, second: str) -> str:
    return f"{named(first)} and {named(second)}"
