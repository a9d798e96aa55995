"""The report of an evaluation."""

from pathlib import Path

from nuggetstream.api.sources import in_python, path_of
from nuggetstream.report.build import WrittenReport
from nuggetstream.report.build import write_report as write


@in_python
def write_report(results: str | Path, out: str | Path) -> WrittenReport:
    """Write the report of an evaluation: one page that works offline, and its numbers as JSON.

    Args:
        results: Path of results.jsonl, as `nuggetstream eval` writes it.
        out: Folder for report.html and report.json; created when missing.

    Returns:
        Both paths, and how many battles were scored of how many received.

    Raises:
        UnusableFile: The file cannot be read, is no file of results, or holds no battle.
        OSError: The folder cannot be written.

    >>> write_report("nothing.jsonl", "report")
    Traceback (most recent call last):
    nuggetstream.files.opening.MissingFile: nothing.jsonl: No such file or directory
    """
    return write(path_of("results", results, "a results.jsonl"), path_of("out", out, "a folder to write"))
