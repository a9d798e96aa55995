"""Snapshots of the index in memory: one file, so that a restart does not read the corpus again.

    one line of JSON: format, embedding model, number of rows, …
    the arrays, one after the other, as numpy writes them
    the graph, if there is one, as faiss writes it
    SHA-256 of everything before

The file is written beside its place and then renamed, so there is always a whole one or none.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import faiss
import numpy as np
import structlog
from numpy.typing import NDArray

from services.retriever.memory.blocks import Blocks
from services.retriever.memory.postings import Postings
from services.retriever.memory.rows import VectorRows
from services.retriever.memory.segment import Segment
from services.retriever.memory.state import State

log = structlog.get_logger(__name__)

FORMAT = 1  # raised when the file, or how texts are read as terms, changes
_DIGEST_BYTES = 32
_READ = 1 << 20

_faiss: Any = faiss  # its type hints lack parts of its interface


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshot of one index.

    Attributes:
        folder: Where the file is; created when missing.
        model: Name of the embedding model; None without one.
    """

    folder: Path
    model: str | None

    @property
    def path(self) -> Path:
        """The file."""
        name = hashlib.sha256((self.model or "").encode()).hexdigest()[:16]
        return self.folder / f"corpus-{name}.index"

    def write(self, state: State, languages: Sequence[str]) -> None:
        """Replace the snapshot.

        Args:
            state: What searches read.
            languages: Languages by number.

        Raises:
            OSError: The file cannot be written; the one before is still there.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(f".{os.getpid()}.tmp")
        try:
            with open(temporary, "wb", opener=_for_the_owner) as file:
                _write(file, self.model, state, languages)
            with temporary.open("r+b") as file:
                digest = _digest(file, os.fstat(file.fileno()).st_size)
                file.write(digest)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        finally:
            temporary.unlink(missing_ok=True)

    def read(self) -> tuple[State, list[str]] | None:
        """The state and the languages by number; None, with a warning, for a file that cannot be used."""
        try:
            with self.path.open("rb") as file:
                return _read(file, self.model)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, RuntimeError) as error:  # faiss raises RuntimeError
            log.warning("the snapshot of the index cannot be used", path=str(self.path), error=str(error))
            return None

    def discard(self) -> None:
        """Delete the snapshot, for instance because something in it was deleted."""
        self.path.unlink(missing_ok=True)


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _write(file: BinaryIO, model: str | None, state: State, languages: Sequence[str]) -> None:
    count, vectors = len(state.alive), state.vectors
    head = {
        "format": FORMAT,
        "model": model,
        "languages": list(languages),
        "segments": [segment.size for segment in state.postings.segments],
        "vectors": None if vectors is None else [vectors.size, vectors.covered],
        "graph": vectors is not None and vectors.graph is not None,
    }
    file.write(json.dumps(head).encode() + b"\n")
    arrays = [_lines(state.keys[:count]), state.alive, state.lengths, state.languages, state.fetched]
    for segment in state.postings.segments:
        arrays += [_lines(segment.vocabulary), segment.starts, segment.rows, segment.counts]
    for array in arrays:
        np.save(file, array, allow_pickle=False)
    if vectors is not None:
        _write_blocks(file, vectors.tail)
    if vectors is not None and vectors.graph is not None:
        _faiss.write_index(vectors.graph, _faiss.PyCallbackIOWriter(file.write))


def _write_blocks(file: BinaryIO, blocks: Blocks) -> None:
    """Write rows as numpy writes one array, without a copy of them all."""
    shape = (blocks.size, blocks.dimensions)
    head = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, head)
    for _, part in blocks.parts():
        file.write(np.ascontiguousarray(part, "<f4").data)


def _read(file: BinaryIO, model: str | None) -> tuple[State, list[str]]:
    end = os.fstat(file.fileno()).st_size - _DIGEST_BYTES
    if end < 0 or _digest(file, end) != file.read(_DIGEST_BYTES):
        raise ValueError("its checksum is wrong")
    file.seek(0)
    head = json.loads(file.readline())
    if (head["format"], head["model"]) != (FORMAT, model):
        raise ValueError(f"it has format {head['format']} and is of the model {head['model']}")
    keys, (alive, lengths, languages, fetched) = _strings(_array(file)), (_array(file) for _ in range(4))
    segments = [_segment(file, size) for size in head["segments"]]
    vectors = None
    if head["vectors"] is not None:
        (size, covered), tail = head["vectors"], _array(file)
        graph = _faiss.read_index(_faiss.PyCallbackIOReader(file.read)) if head["graph"] else None
        vectors = VectorRows(size, covered, graph, Blocks.of(tail))
    state = State(
        keys=keys,
        alive=alive,
        lengths=lengths,
        languages=languages,
        fetched=fetched,
        postings=Postings(tuple(segments)),
        vectors=vectors,
    )
    return state, head["languages"]


def _segment(file: BinaryIO, size: int) -> Segment:
    vocabulary = {term: number for number, term in enumerate(_strings(_array(file)))}
    starts, rows, counts = (_array(file) for _ in range(3))
    return Segment(vocabulary=vocabulary, starts=starts, rows=rows, counts=counts, size=size)


def _array(file: BinaryIO) -> NDArray[Any]:
    array: NDArray[Any] = np.load(file, allow_pickle=False)
    return array


def _lines(names: Iterable[str]) -> NDArray[np.uint8]:
    """Names, which have no line breaks, as bytes."""
    return np.frombuffer("\n".join(names).encode(), dtype=np.uint8)


def _strings(lines: NDArray[np.uint8]) -> list[str]:
    return lines.tobytes().decode().split("\n") if len(lines) else []


def _digest(file: BinaryIO, end: int) -> bytes:
    """The digest of the beginning of a file, which is then at `end`."""
    file.seek(0)
    digest, left = hashlib.sha256(), end
    while left and (part := file.read(min(left, _READ))):
        digest.update(part)
        left -= len(part)
    return digest.digest()
