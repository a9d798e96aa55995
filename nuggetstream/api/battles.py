"""Battles from files of many formats."""

from collections.abc import Iterator
from pathlib import Path

from nuggetstream.api.sources import in_python
from nuggetstream.files.dataset import BadLine, BattleLine, read_documents
from nuggetstream.files.formats.registry import read_battles as battles_of_file


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
    texts = read_documents(Path(documents)) if documents is not None else {}
    return battles_of_file(Path(path), texts, format)
