"""What a reader must know before reading a number: one sentence each, with a name for programs."""

from collections.abc import Iterator
from dataclasses import dataclass

from nuggetstream.ratings.interval import Extent
from nuggetstream.ratings.islands import in_words
from nuggetstream.ratings.sources import counted
from nuggetstream.ratings.study import Study
from nuggetstream.statistics.share import FEW

_KNOWN = (Extent.FINITE, Extent.OPEN_BELOW, Extent.OPEN_ABOVE, Extent.FIXED)


@dataclass(frozen=True, slots=True)
class Note:
    """A state of the data.

    Attributes:
        state: its name.
        text: what it means here.
    """

    state: str
    text: str


def notes(study: Study) -> tuple[Note, ...]:
    """The states of the data that change how the numbers are read."""
    return tuple(_notes(study))


def _notes(study: Study) -> Iterator[Note]:
    rated, method = study.rated, study.question.method
    lost = sum(each.source.without_vote for each in study.sources)
    if lost:
        yield Note("without_vote", f"rows without an outcome: {lost}; they are neither votes nor ties")
    if rated.fitted is None:
        yield Note("nobody_ranked", "no two systems can be ranked yet; each line says why")
    if len(rated.islands) > 1:
        yield Note(
            "islands",
            f"no battle that counts links these {len(rated.islands)} groups, so nothing ranks one against "
            f"another: {in_words(rated.islands)}",
        )
    if rated.only_ties:
        yield Note("only_ties", "every battle that counts is a tie: the votes tell nobody apart")
    elif any(standing.interval.extent is Extent.STILL for standing in rated.standings):
        yield Note("nothing_varies", "some votes never disagree, so they say nothing about chance")
    if rated.fitted and (unranked := rated.fitted.ratings.unranked):
        yield Note(
            "unranked_resamples",
            f"{unranked} of {method.resamples} resamples cannot be ranked; they count as minus and plus "
            "infinity and widen every interval",
        )
    if few := _few(study):
        yield Note(
            "few_battles",
            f"fewer than {FEW} battles: {in_words([few])}; from so few, intervals are too narrow",
        )


def _few(study: Study) -> list[str]:
    """Systems with an interval from few battles; a weight makes none of them more than one battle."""
    votes = counted((each.source for each in study.sources), study.question.method.policy)
    return [
        standing.system
        for standing in study.rated.standings
        if standing.interval.extent in _KNOWN and votes[standing.system] < FEW
    ]
