"""Conditions of the votes that change how a board is read, in words that are the same everywhere."""

from collections.abc import Iterable, Iterator, Sequence

from nuggetstream.domain.note import Note
from nuggetstream.files.numerals import shortened
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.standing import BoardState, IntervalState
from nuggetstream.statistics.share import FEW

_WITH_BOUNDS = (
    IntervalState.BOUNDED,
    IntervalState.UNBOUNDED_BELOW,
    IntervalState.UNBOUNDED_ABOVE,
    IntervalState.FIXED,
)


def notes_of(ratings: Ratings) -> tuple[Note, ...]:
    """The notes of a board, the most important first."""
    return tuple(_notes(ratings))


def _notes(ratings: Ratings) -> Iterator[Note]:
    options = ratings.options
    if ratings.state is BoardState.EMPTY:
        yield Note("empty", "No battle has an outcome here.")
    elif ratings.state is BoardState.NOBODY_RANKED:
        yield Note(
            "nobody_ranked",
            "No two systems have taken points from each other, directly or through a chain of battles.",
        )
    if len(ratings.islands) > 1:
        yield Note(
            "islands",
            f"The systems form {len(ratings.islands)} groups that never met, so nothing ranks one group "
            f"against another: {named_groups(ratings.islands)}.",
        )
    if ratings.state is BoardState.ALL_TIED:
        yield Note(
            "all_tied",
            "Every battle between ranked systems is a tie: the ratings are equal, their precision unknown.",
        )
    elif any(standing.interval_state is IntervalState.DEGENERATE for standing in ratings.standings):
        yield Note("degenerate", "Some votes never disagree, so they contain no information about chance.")
    if unranked := ratings.unranked_resamples:
        yield Note(
            "unranked_resamples",
            f"{unranked} of {options.draws} resamples could not be ranked; they count as minus and plus "
            "infinity and widen every interval. Sandwich intervals draw none.",
        )
    if options.prior is not None:
        yield Note(
            "prior",
            f"A weak prior of {options.prior:g} battles per system pulls every rating towards the mean.",
        )
    yield from _few_battles(ratings)


def _few_battles(ratings: Ratings) -> Iterator[Note]:
    """Provisional ratings, and ratings whose intervals are too narrow for lack of battles."""
    below = ratings.options.provisional_below
    if provisional := [standing.system for standing in ratings.standings if standing.provisional]:
        yield Note(
            "provisional",
            f"Ratings from fewer than {below} battles are provisional and have no rank: "
            f"{named_groups([provisional])}.",
        )
    cast = dict(
        zip(ratings.tally.systems, ratings.votes.votes_cast(ratings.options.policy).tolist(), strict=True)
    )
    few = [
        standing.system
        for standing in ratings.standings
        if not standing.provisional
        and standing.interval_state in _WITH_BOUNDS
        and cast[standing.system] < FEW
    ]
    resampled = ratings.options.source is Intervals.BOOTSTRAP
    worth = "are too narrow" if resampled else "are only approximate"
    if few:
        yield Note(
            "few_battles",
            f"Intervals from fewer than {FEW} battles {worth}: {named_groups([few])}.",
        )
    clusters, together = ratings.votes.clusters, sum(cast.values()) / 2
    if clusters is not None and clusters < min(FEW, together) and ratings.fit is not None:
        yield Note("few_clusters", f"Intervals from fewer than {FEW} clusters {worth}; here are {clusters}.")


def named_groups(groups: Iterable[Sequence[str]], most: int = 4) -> str:
    """Groups of systems by name, the first few of each group.

    >>> named_groups([["p", "q", "r"], ["x", "y"]], most=2)
    'p, q and 1 more; x, y'
    """
    return "; ".join(shortened(group, most) for group in groups)
