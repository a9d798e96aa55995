"""Notes of a board about the outcomes that it counts."""

from nuggetstream.domain.note import Note


def without_verdict() -> Note:
    """Which battles with labelled nuggets are not on a board of nuggets."""
    return Note(
        "without_verdict",
        "A battle has a verdict by nuggets only where a source states one of them, or where no source was "
        "read and both answers state some.",
    )


def several_judges(judges: int) -> Note:
    """The board counts the common verdict of several judges."""
    return Note(
        "several_judges",
        "A battle counts once, with the verdict of more than half of its judges, or else as a tie; "
        f"{judges} judges have verdicts here.",
    )


def detected_language(detected: int, received: int) -> Note:
    """The board is a slice by language, and the language of some battles was detected."""
    text = f"The language of {detected:,} of {received:,} battles was detected, not declared."
    return Note("detected_language", text)
