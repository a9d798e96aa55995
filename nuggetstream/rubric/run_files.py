"""Rankings from files: runs as TREC writes them, or the ranks that a graded file recorded."""

from collections.abc import Sequence
from pathlib import Path

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.qrels import RunLine, read_run
from nuggetstream.rubric.graded import load
from nuggetstream.rubric.retrieval import Ranking, rankings_of


def read_rankings(runs: Sequence[Path], graded: Path | None = None) -> dict[str, Ranking]:
    """System -> its ranking, from run files, from the ranks of a graded file, or from both.

    The documents of a run are in the order of their scores, as trec_eval orders them: its rank column does
    not count, and of equal scores the later name comes first.

    Args:
        runs: Files of one run each, named by its tag.
        graded: A graded file with the ranks that systems gave its passages; None for none.

    Raises:
        UnusableFile: A line cannot be used, naming file, line and field.
    """
    rankings: dict[str, Ranking] = {}
    if graded is not None:
        try:
            rankings = rankings_of(load(graded).passages)
        except UnusableFile:
            raise
        except ValueError as error:
            raise UnusableFile(f"{graded}: rank: {error}") from error
    for path in runs:
        lines = read_run(path)
        tags = sorted({line.run for line in lines})
        if len(tags) != 1:
            content = f"holds {', '.join(tags)}; expected one run" if tags else "holds no line"
            raise UnusableFile(f"{path}: tag: {content}")
        if tags[0] in rankings:
            raise UnusableFile(f"{path}: tag: the run {tags[0]!r} is there twice")
        rankings[tags[0]] = _ranking(lines)
    return rankings


def _ranking(lines: Sequence[RunLine]) -> dict[str, list[str | None]]:
    ranking: dict[str, list[str | None]] = {}
    later_name_first = sorted(lines, key=lambda line: line.document, reverse=True)
    for line in sorted(later_name_first, key=lambda line: -line.score):
        ranking.setdefault(line.query, []).append(line.document)
    return ranking
