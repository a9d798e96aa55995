"""Two evaluations of the same battles, side by side."""

from pathlib import Path

from nuggetstream.api.sources import in_python
from nuggetstream.files.results import read_results
from nuggetstream.report.comparing import Compared
from nuggetstream.report.comparing import compare as compare_results


@in_python
def compare(first: str | Path, second: str | Path, *, by: str | None = None) -> Compared:
    """How far two evaluations of the same battles agree with each other and with people, and what they cost.

    Args:
        first: Path of results.jsonl, as `nuggetstream eval` writes it.
        second: The same battles by another model, prompt or profile.
        by: "arena", "language" or "tag" gives the shares of equal preferences in each group as well.

    Returns:
        Preferences of both per predictor, with kappa and the battles in which they are opposed; both beside
        people; labels of nuggets with the same text; and calls, tokens and money of a battle.

    Raises:
        UnusableFile: A file cannot be read, is no file of results, or holds no battle.
        DifferentAnswers: A battle of one file has other answers than that of the other with the same id.
        ValueError: There is no such grouping.

    >>> compare("nothing.jsonl", "nothing.jsonl")
    Traceback (most recent call last):
    nuggetstream.files.opening.UnusableFile: nothing.jsonl: No such file or directory
    """
    return compare_results(read_results(Path(first)), read_results(Path(second)), by)
