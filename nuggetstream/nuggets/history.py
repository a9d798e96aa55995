"""How a nugget list was created: what each step added, reworded and dropped.

the texts of the list after each step  ->  the differences between consecutive steps
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.nugget import MergedNugget, Revision
from nuggetstream.text.terms import terms

# Nuggets with fewer terms in common are different facts: the new one was added, and the old one dropped.
_REWORDED = 0.5


@dataclass(frozen=True, slots=True)
class Rewording:
    """A nugget that a step worded anew."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ListStep:
    """One step of the creation of a list.

    Attributes:
        documents: Ids of the documents read in this step.
        added: Nuggets that the list did not have before.
        reworded: Nuggets with another wording than before.
        dropped: Nuggets that the list has no more.
        merged: Nuggets that the step merged into others, because they state the same fact.
    """

    documents: tuple[str, ...]
    added: tuple[str, ...]
    reworded: tuple[Rewording, ...]
    dropped: tuple[str, ...]
    merged: tuple[MergedNugget, ...]


def steps_of(history: Sequence[Revision]) -> list[ListStep]:
    """What each step of the creation of a list changed.

    A nugget counts as reworded when it is new, the list lacks a nugget that it had before, and the two share
    at least half of their terms: |A and B| / ((|A| + |B|) / 2) >= 0.5.

    >>> first = Revision(("c1",), ("Paris is in France.", "It has parks."))
    >>> second = Revision(("c2",), ("Paris lies in the north of France.", "The Seine flows through it."))
    >>> step = steps_of([first, second])[1]
    >>> step.added, step.dropped, step.reworded[0].before
    (('The Seine flows through it.',), ('It has parks.',), 'Paris is in France.')
    """
    steps = []
    before: tuple[str, ...] = ()
    for revision in history:
        steps.append(_step(before, revision))
        before = revision.texts
    return steps


def _step(before: Sequence[str], revision: Revision) -> ListStep:
    new = [text for text in revision.texts if text not in before]
    gone = [text for text in before if text not in revision.texts]
    reworded = _rewordings(gone, new)
    old_texts, new_texts = {pair.before for pair in reworded}, {pair.after for pair in reworded}
    return ListStep(
        documents=revision.documents,
        added=tuple(text for text in new if text not in new_texts),
        reworded=tuple(reworded),
        dropped=tuple(text for text in gone if text not in old_texts),
        merged=revision.merged,
    )


def _rewordings(gone: Sequence[str], new: Sequence[str]) -> list[Rewording]:
    """Pairs of an old and a new wording, the most similar first; each nugget is in at most one."""
    words = {text: frozenset(terms(text)) for text in (*gone, *new)}
    pairs = [(_overlap(words[old], words[text]), old, text) for old in gone for text in new]
    chosen: list[Rewording] = []
    for overlap, old, text in sorted(pairs, key=lambda pair: -pair[0]):
        if overlap < _REWORDED:
            break
        if all(old != pair.before and text != pair.after for pair in chosen):
            chosen.append(Rewording(old, text))
    return chosen


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of the terms that two texts have in common, in [0, 1]; 0 for texts without terms."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
