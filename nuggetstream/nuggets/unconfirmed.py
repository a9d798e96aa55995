"""What is said in words about nuggets that no source confirms, so that nobody seems to have missed them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.nugget import Grounding, Importance, Nugget, NuggetList, Support
from nuggetstream.domain.offline import GROUNDED
from nuggetstream.files.numerals import decisive_digits, many
from nuggetstream.nuggets.grounded_preference import GroundedVerdict

_DOUBT = {
    Grounding.ANSWER_ONLY: "a claim that no source confirms",
    Grounding.DISPUTED: "a claim that is disputed",
}

_SHOWN = 3  # claims of one answer that are quoted
_STATED = (Support.SUPPORT, Support.PARTIAL_SUPPORT)


def on_grounded(
    grounded: GroundedVerdict | None, nuggets: Sequence[Nugget], winner: Vote, threshold: float
) -> tuple[str, ...]:
    """The preference on grounded nuggets, where it rests on others than that on all nuggets, and its worth.

    Args:
        grounded: That preference.
        nuggets: All nuggets.
        winner: The preference on all of them. Where the two differ, the reason is added.
        threshold: Largest difference that is a tie.
    """
    if grounded is None:
        if all(nugget.is_unconfirmed for nugget in nuggets):
            return (
                "No source states any of the nuggets, so there is no preference on grounded nuggets alone.",
            )
        return ()
    if len(grounded.nuggets) == len(nuggets):
        return ()
    a, b = (grounded.scores[side].all_score for side in Side)
    says = "a tie" if grounded.preference is Vote.TIE else f"{grounded.preference.value.upper()} is preferred"
    part = f"{len(grounded.nuggets)} of {many(len(nuggets), 'nugget')} that a source states"
    digits = decisive_digits(a, b, threshold)
    line = f"On the {part}, {says}: {a:.{digits}f} (A) and {b:.{digits}f} (B)."
    if grounded.preference is not winner:
        others = many(len(nuggets) - len(grounded.nuggets), "other nugget")
        line = f"{line} What differs is the {others}, which no source is known to state."
    return (f"{line} {GROUNDED.words}",)


def claims(nuggets: Sequence[Nugget], labels: Mapping[Side, Mapping[str, Support]]) -> Iterable[str]:
    """Nuggets that no source confirms, and that one answer alone states."""
    for nugget in nuggets:
        doubt = _DOUBT.get(nugget.grounding) if nugget.grounding else None
        states = [side for side in Side if labels[side][nugget.id] in _STATED]
        if doubt and len(states) == 1:
            yield f"Only {states[0].value.upper()} makes {doubt}: “{nugget.text}”"


def vital_claims(nuggets: Sequence[Nugget], labels: Mapping[Side, Mapping[str, Support]]) -> Iterable[str]:
    """The same of those that would be vital, and of disputed ones."""
    return claims([n for n in nuggets if n.importance is Importance.VITAL or n.is_disputed], labels)


def is_unverified(listed: NuggetList) -> bool:
    """Whether no source was read, so that nothing confirms any nugget of a list."""
    return not listed.has_read_sources and all(nugget.is_unconfirmed for nugget in listed.nuggets)


def unverified(nuggets: Sequence[Nugget], labels: Mapping[Side, Mapping[str, Support]]) -> Iterable[str]:
    """What each answer of a battle without sources states that the other one does not."""
    parts = []
    for side in Side:
        own = [
            f"“{nugget.text}”"
            for nugget in nuggets
            if labels[side].get(nugget.id) in _STATED and labels[side.other].get(nugget.id) not in _STATED
        ]
        more = [many(len(own) - _SHOWN, "further claim")] if len(own) > _SHOWN else []
        if own:
            parts.append(f"only {side.value.upper()} states {', '.join([*own[:_SHOWN], *more])}")
    if parts:
        yield f"Unverified, because no source was read: {'; '.join(parts)}."


def unconfirmed(nuggets: Sequence[Nugget]) -> Iterable[str]:
    """How many nuggets no source confirms."""
    counts = Counter(nugget.grounding for nugget in nuggets if nugget.is_unconfirmed)
    if not counts:
        return
    parts = []
    if only := counts[Grounding.ANSWER_ONLY]:
        parts.append(f"{many(only, 'nugget')} {'is' if only == 1 else 'are'} confirmed by no source")
    if disputed := counts[Grounding.DISPUTED]:
        parts.append(f"{many(disputed, 'nugget')} {'is' if disputed == 1 else 'are'} disputed")
    yield f"{' and '.join(parts)}: an answer without them misses no known fact."
