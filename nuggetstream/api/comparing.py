"""Evaluations of the same battles, beside each other and beside people."""

from pathlib import Path

from nuggetstream.api.choices import word
from nuggetstream.api.sources import in_python, path_of
from nuggetstream.files.results import read_results
from nuggetstream.report.comparing import GROUPS, Compared
from nuggetstream.report.comparing import compare as compare_results
from nuggetstream.report.evaluator_study import study_evaluators
from nuggetstream.report.evaluator_tables import EvaluatorStudy
from nuggetstream.report.evaluator_votes import evaluation_names

_WHAT = "a results.jsonl"


@in_python
def compare(first: str | Path, second: str | Path, *, by: str | None = None) -> Compared:
    """How far two evaluations of the same battles agree with each other and with people, and what they cost.

    Args:
        first: Path of results.jsonl, as `nuggetstream eval` writes it.
        second: The same battles by another model, prompt or profile.
        by: "arena", "category", "language" or "tag" gives the shares of equal preferences in each group, too.

    Returns:
        Preferences of both per predictor, with kappa and the battles in which they are opposed; both beside
        people; labels of nuggets with the same text; and calls, tokens and money of a battle.

    Raises:
        UnusableFile: A file cannot be read, is no file of results, or holds no battle.
        DifferentAnswers: A battle of one file has other answers than that of the other with the same id.
        ValueError: There is no such grouping.

    >>> compare("nothing.jsonl", "nothing.jsonl")
    Traceback (most recent call last):
    nuggetstream.files.opening.MissingFile: nothing.jsonl: No such file or directory
    """
    files = [path_of(name, given, _WHAT) for name, given in (("first", first), ("second", second))]
    ours, theirs = map(read_results, files)
    return compare_results(ours, theirs, _grouping(by))


@in_python
def compare_evaluators(*files: str | Path, by: str | None = None) -> EvaluatorStudy:
    """Set every evaluator of one or several evaluations beside people's votes.

    Args:
        files: Paths of results.jsonl, as `nuggetstream eval` writes them, of the same battles.
        by: "arena", "category", "language" or "tag" gives agreement in each group as well.

    Returns:
        Agreement with people (share and kappa with 95% intervals over whole queries). Further tables are
        `confusion_table()`, `decided_table()` (without ties), `inversions_table()`, `pairs_table()`,
        `labels_table()`, `calibration_table()`, `bins_table()`, `biases_table()` (position, length, own
        family), `combinations_table()` (panels and cascades, chosen on half of the queries) and
        `costs_table()`, whose `plot()` draws accuracy against cost.

    Raises:
        UnusableFile: A file cannot be read, is no file of results, or holds no battle.
        DifferentAnswers: Two files have different answers under one id.
        ValueError: There is no file, or no such grouping.

    Source: Cohen, 1968; Efron, 1979; Guo et al., 2017; Stone, 1974.

    >>> compare_evaluators("nothing.jsonl")
    Traceback (most recent call last):
    nuggetstream.files.opening.MissingFile: nothing.jsonl: No such file or directory
    """
    if not files:
        raise ValueError("there must be a file of results")
    paths = [path_of(f"file {number}", file, _WHAT) for number, file in enumerate(files, 1)]
    results = [read_results(path) for path in paths]
    return study_evaluators(dict(zip(evaluation_names(paths), results, strict=True)), _grouping(by))


def _grouping(by: str | None) -> str | None:
    return None if by is None else word("by", tuple(GROUPS), by)
