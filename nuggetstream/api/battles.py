"""Battles from files of many formats, and results in them."""

from collections.abc import Iterator
from pathlib import Path

from nuggetstream.api.sources import in_python, path_of
from nuggetstream.files.dataset import BadLine, BattleLine, read_documents
from nuggetstream.files.formats.exporting import Exported, write_export
from nuggetstream.files.formats.exports import export_named
from nuggetstream.files.formats.registry import read_battles as battles_of_file
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import checked, result_views
from nuggetstream.views.battles import BattleView


@in_python
def read_battles(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - the word that people look for
    *,
    documents: str | Path | None = None,
) -> Iterator[BattleLine | BadLine]:
    """The battles of a file or folder one by one, in memory of one battle.

    Args:
        path: File in any format that holds battles, see docs/formats.md, gzipped or not, or a folder of files
            in one format.
        format: Name of the format; by default it is recognised by the content.
        documents: JSONL file of {docid, text}, for formats whose answers cite documents by id.

    Returns:
        A `BattleLine` for each battle, with line, checked submission and the human preference per dimension,
        and a `BadLine` with line and problems for each row that is no battle.

    Raises:
        UnusableFile: It cannot be read, its format is unknown, or it holds something other than battles.

    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w") as file:
    ...     print("query,model_a,response_a,model_b,response_b,winner", file=file)
    ...     print("Why?,atlas,Because.,birch,Why not?,atlas", file=file, flush=True)
    ...     [line] = read_battles(file.name)
    >>> line.line, line.submission.a.text, line.submission.vote
    (2, 'Because.', <Vote.A: 'a'>)
    """
    file = path_of("path", path, "a file or folder of battles")
    texts = (
        {} if documents is None else read_documents(path_of("documents", documents, "a file of documents"))
    )
    return battles_of_file(file, texts, None if format is None else _hyphened(format))


@in_python
def explain(results: str | Path, battle: str) -> BattleView:
    """Why one answer of an evaluated battle is better: its nuggets, who states them, and what decided it.

    Args:
        results: A results.jsonl of `nuggetstream eval`.
        battle: Id of the battle.

    Returns:
        The battle as `Client.battle` gives it, which shows itself as its explanation.

    Raises:
        UnusableFile: The results cannot be read, or have no such battle.

    >>> explain("results.jsonl", "b1")
    Traceback (most recent call last):
    nuggetstream.files.opening.MissingFile: results.jsonl: No such file or directory
    """
    for view in result_views(path_of("results", results, "a results.jsonl")):
        if view["id"] == battle:
            return checked(BattleView, view, f"{results}: {battle}")
    raise UnusableFile(f"{results}: has no battle {battle!r}")


@in_python
def export_results(
    results: str | Path,
    path: str | Path,
    format: str,  # noqa: A002 - the word that people look for
    *,
    lens: str | None = None,
) -> Exported:
    """Write results of `nuggetstream eval` in the format of another project, in memory of one battle.

    Args:
        results: A results.jsonl.
        path: The file to write: Parquet where it ends with `.parquet`, gzipped where it ends with `.gz`.
        format: Name of the format, such as "search-arena" or "nuggetizer-assignments", see docs/formats.md.
        lens: Whose votes: "human" (the default), "nugget", "judge" or "all"; only for "votes".

    Returns:
        How many battles were read, how many rows were written, and how many battles had nothing to write.

    Raises:
        UnusableFile: The results cannot be read, or the format cannot be written so.

    >>> import json, tempfile
    >>> row = {"id": "b1", "arena": "mine", "query": "Why?", "nuggets": [], "nugget_verdict": None}
    >>> row |= {"judgments": [], "human_vote": "a", "evidence": [], "failures": []}
    >>> row |= {"a": {"system": "atlas", "text": "Because."}, "b": {"system": "birch", "text": "Why not?"}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Path(folder, "results.jsonl")
    ...     _ = results.write_text(json.dumps(row))
    ...     export_results(results, results.with_name("votes.csv"), "votes")
    Exported(battles=1, rows=1, empty=0)
    """
    file = path_of("results", results, "a results.jsonl")
    return write_export(
        export_named(_hyphened(format), None if lens is None else lens.strip().lower()),
        result_views(file),
        path_of("path", path, "a file to write"),
    )


def _hyphened(name: str) -> str:
    """The name of a format, which people also spell with underscores and capitals."""
    return name.strip().lower().replace("_", "-").replace(" ", "-")
