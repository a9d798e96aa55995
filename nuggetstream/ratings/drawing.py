"""A study as tables for a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nuggetstream.files.numerals import MINUS, MISSING, between, fixed, number, percent
from nuggetstream.ratings.advice import Advised
from nuggetstream.ratings.board import Standing
from nuggetstream.ratings.interval import Extent, Interval
from nuggetstream.ratings.notes import notes
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.powered import Powered, Value
from nuggetstream.ratings.study import Study
from nuggetstream.ratings.style import Styled
from nuggetstream.ratings.tournament import Played, WonOutright

_WORDS = {
    Extent.OPEN: "no end",
    Extent.FIXED: "anchor",
    Extent.STILL: "nothing varies",
    Extent.UNKNOWN: MISSING,
}
_READABLE = 12  # systems side by side; of more, ratings.json has the table
_TEXT_COLUMNS = ("system", "pair", "feature", "not rankable yet")


def draw(study: Study) -> RenderableType:
    """Everything that was found, the board first and what it rests on after it."""
    parts: list[RenderableType] = [_board(study), *_basis(study)]
    if study.styled:
        parts += ["", *_style(study.styled)]
    for played in study.played:
        parts += ["", *_tournament(played)]
    if study.outright and len(study.outright.systems) <= _READABLE:
        parts += ["", _outright(study.outright)]
    if study.advised:
        parts += ["", *_advice(study.advised)]
    if study.powered:
        parts += ["", *_powered(study.powered)]
    return Group(*(Text(part) if isinstance(part, str) else part for part in parts))


def _board(study: Study) -> Table:
    counts = (f"{name}, weighted" if study.weighted else name for name in ("battles", "W-L-T"))
    columns = ("rank", "system", "rating", "interval", "P(first)", *counts)
    lacking = any(standing.unrankable for standing in study.rated.standings)
    table = _table("Leaderboard", *columns, *(["not rankable yet"] if lacking else []))
    for standing in study.rated.standings:
        table.add_row(*_standing(standing), *([standing.unrankable or ""] if lacking else []))
    return table


def _standing(standing: Standing) -> tuple[str, ...]:
    return (
        MISSING if standing.rank is None else str(standing.rank),
        _name(standing.system),
        number(standing.rating, 0),
        _span(standing.interval),
        percent(standing.probability_first),
        _count(standing.battles),
        "-".join(map(_count, (standing.wins, standing.losses, standing.ties))),
    )


def _basis(study: Study) -> Iterator[str]:
    """What the ratings rest on, line by line."""
    method, fitted, asked = study.question.method, study.rated.fitted, study.question.reading
    shares = {share.source: share for share in study.rated.shares}
    for each in study.sources:
        line = (
            f"from {each.source.name}: {_many(each.source.cast, 'vote')} in {_many(each.source.rows, 'row')}"
        )
        if shares:
            line += f", weight {each.weight:g}, {percent(shares[each.source.name].share)} of all weight"
        yield line
    for column, value in asked.where:
        yield f"only rows in which {column} is {value}"
    tie = f", tie parameter {fitted.tie:.3f}" if fitted and fitted.tie is not None else ""
    yield f"ties: {method.policy.value}{tie}; anchor: {_anchor(study)}"
    if method.intervals is Intervals.SANDWICH:
        yield f"intervals: {method.level:.0%}, sandwich{_clusters(study)}"
    else:
        unranked = fitted.ratings.unranked if fitted else 0
        yield (
            f"intervals: {method.level:.0%}, {method.bootstrap.value} bootstrap{_clusters(study)}, "
            f"{method.resamples:,} resamples, {unranked} of them unranked, seed {method.seed}"
        )
    for note in notes(study):
        yield f"note: {note.text}"


def _anchor(study: Study) -> str:
    anchor = study.question.method.anchor
    return "none, the mean is 1000" if anchor is None else f"{anchor.system} at {anchor.rating:g}"


def _clusters(study: Study) -> str:
    column = study.question.reading.named.cluster
    return f" over {study.clusters:,} clusters ({column})" if study.clusters is not None else ""


def _style(styled: Styled) -> Iterator[RenderableType]:
    if styled.missing:
        yield f"At equal style: no answer: {styled.missing}"
        return
    table = _table("At equal style", "rank", "system", "rating", "interval")
    for each in styled.systems:
        table.add_row(str(each.rank), _name(each.system), number(each.rating, 0), _span(each.interval))
    yield table
    if styled.unranked:
        yield f"not rankable yet: {', '.join(styled.unranked)}"
    yield ""
    table = _table(
        "What style is worth (logits per standard deviation)", "feature", "coefficient", "interval"
    )
    for found in styled.coefficients:
        ends = MISSING if found.low is None else f"{number(found.low, 2)} to {number(found.high, 2)}"
        value = "never differs" if found.value is None else number(found.value, 2)
        table.add_row(_name(found.feature), value, ends)
    yield table


def _tournament(played: Played) -> Iterator[RenderableType]:
    name = f"Elo, {played.rounds} tournaments ({played.arithmetic.value})"
    if played.missing:
        yield f"{name}: no answer: {played.missing}"
        return
    table = _table(name, "system", "rating", "± order", "games")
    for player in played.players:
        deviation = number(player.deviation, 1)
        table.add_row(_name(player.system), number(player.rating, 0), deviation, f"{player.games:,}")
    yield table
    if played.islands:
        yield f"note: these groups never met, so Elo does not compare them either: {played.islands}"


def _outright(found: WonOutright) -> Table:
    table = _table("Won outright, %", "system", *map(_name, found.systems))
    for name, row in zip(found.systems, found.percent, strict=True):
        table.add_row(_name(name), *(number(share, 0) for share in row))
    return table


def _advice(advised: Advised) -> Iterator[RenderableType]:
    if advised.missing:
        yield f"What to ask next: no answer: {advised.missing}"
        return
    title = f"Battles until neighbours are apart ({advised.level:.0%} interval, power {advised.power:.0%})"
    table = _table(title, "pair", "gap", "battles")
    for pair in advised.neighbours:
        needed = pair.missing or f"{pair.needed:,}"
        table.add_row(_pair(pair.system, pair.opponent), number(pair.gap, 0), needed)
    yield table
    yield ""
    table = _table("Battles that shrink the intervals most", "pair", "variance taken by one")
    for helpful in advised.next:
        shrinkage = f"{helpful.shrinkage:.2%}"
        table.add_row(_pair(helpful.system, helpful.opponent), shrinkage)
    yield table


def _powered(powered: Powered) -> Iterator[RenderableType]:
    for title, found, scale in (
        ("Win rates, by people, by the automatic votes, and by both", powered.rates, 100),
        ("Ratings, by people, by the automatic votes, and by both", powered.ratings, 1),
    ):
        table = _table(title, "system", "human", "automatic", "combined", "trust")
        for system, three in found.items():
            values = (_value(each, scale) for each in (three.human, three.automatic, three.combined))
            trust = three.missing or number(three.trust, 2)
            table.add_row(_name(system), *values, trust)
        yield table
        yield ""
    yield (
        f"{powered.humans:,} battles with both votes, {powered.automatics:,} with an automatic vote only; "
        f"{powered.unmatched:,} with a human vote only are left out"
    )
    yield "the combination is right if the battles with a human vote are a random sample of all"
    for note in powered.notes:
        yield f"note: {note}"


def _value(found: Value | None, scale: int) -> str:
    if found is None:
        return MISSING
    unit, digits = ("%", 1) if scale == 100 else ("", 0)
    ends = found.interval
    if ends.low is None or ends.high is None or ends.extent is Extent.FIXED:
        return f"{fixed(scale * found.value, digits)}{unit} ({_span(ends)})"
    low, high = (fixed(scale * end, digits) for end in (ends.low, ends.high))
    return f"{fixed(scale * found.value, digits)}{unit} ({between(low, high)})"


def _span(ends: Interval) -> str:
    if ends.extent in _WORDS:
        return _WORDS[ends.extent]
    low = f"{MINUS}∞" if ends.low is None else fixed(ends.low)
    high = "∞" if ends.high is None else fixed(ends.high)
    return between(low, high)


def _name(name: str) -> str:
    """A name as the file has it, without what would move the cursor or be read as markup."""
    return escape("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name))


def _pair(system: str, opponent: str) -> str:
    return f"{_name(system)} and {_name(opponent)}"


def _many(count: int, thing: str) -> str:
    """A count of things.

    >>> _many(1, "vote"), _many(1200, "row")
    ('1 vote', '1,200 rows')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _count(value: float) -> str:
    """Whole counts as they are, weighted ones with one digit."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for name in columns:
        left = name in _TEXT_COLUMNS
        table.add_column(name, justify="left" if left else "right", overflow="fold", no_wrap=not left)
    return table
