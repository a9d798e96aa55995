"""What the answers of a battle get wrong: nuggets that they contradict.

A nugget that only an answer states, or that is disputed, may be wrong itself: contradicting it is no error.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Assignment, Nugget, Support, vital_first


@dataclass(frozen=True, slots=True)
class ContradictedNugget:
    """A nugget that one answer contradicts, although nothing else casts doubt on it.

    Attributes:
        nugget: The nugget.
        side: The answer that contradicts it.
        quote: The sentence that contradicts it; None where none was named.
    """

    nugget: Nugget
    side: Side
    quote: str | None


def contradicted(
    nuggets: Sequence[Nugget], assignments: Iterable[Assignment]
) -> Iterator[ContradictedNugget]:
    """All of them, vital nuggets first, A's before B's."""
    quotes = {(a.nugget_id, a.side): a.quote for a in assignments if a.support is Support.CONTRADICTION}
    for nugget in vital_first(nuggets):
        for side in Side:
            if (nugget.id, side) in quotes and not nugget.is_unconfirmed:
                yield ContradictedNugget(nugget, side, quotes[nugget.id, side])


def errors(contradictions: Iterable[ContradictedNugget]) -> Iterator[str]:
    """A sentence for each."""
    for error in contradictions:
        stated = f" It says: “{error.quote}”" if error.quote else ""
        yield f"{error.side.value.upper()} contradicts: “{error.nugget.text}”{stated}"
