"""Notes of a board about the outcomes that it counts."""

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.note import Note


def several_judges(judges: int, lens: Lens = Lens.JUDGE) -> Note:
    """The board counts the common verdict of several judges, or preference by several nuggetizers."""
    said, who = ("preference", "nuggetizers") if lens is Lens.OTHER_NUGGET else ("verdict", "judges")
    return Note(
        "several_judges",
        f"A battle counts once, with the {said} of more than half of its {who}, or else as a tie; "
        f"{judges} {who} have {said}s here.",
    )


def detected_language(detected: int, received: int) -> Note:
    """The board is a slice by language, and the language of some battles was detected."""
    text = f"The language of {detected:,} of {received:,} battles was detected, not declared."
    return Note("detected_language", text)
