"""Vectors of a model in this process that outlive it, so that another run need not compute them again."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

from nuggetstream.domain.identity import content_hash
from services.indexer.embedder import LocalEmbedder
from services.runtime.embedding import Vectors, stacked

log = structlog.get_logger(__name__)

_Row = NDArray[np.float32]


class KeptVectors:
    """A model whose vectors are kept in a file.

    The file gets the vectors that this process used. One that cannot be read, or that another model computed,
    is replaced.

    Args:
        inner: Computes the vectors that are not in the file.
        file: The file, in NumPy's format "npz"; it need not exist.

    Attributes:
        model: Name of the model.
        cuts: Which texts it read only in part; their vectors are not kept, so that each run notes them.
    """

    def __init__(self, inner: LocalEmbedder, file: Path) -> None:
        self._inner, self._file = inner, file
        self.model, self.cuts = inner.model, inner.cuts
        self._rows = _read(file, inner.model)
        self._used = set[str]()

    async def ready(self) -> None:
        """Load the model, unless vectors are kept: then the first text without one loads it.

        Raises:
            OSError: There is no such model, or it cannot be downloaded.
            NotInstalled: What computes it is not installed.
        """
        if not self._rows:
            await self._inner.ready()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions); those that are kept are not computed."""
        keys = [content_hash(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        if new:
            rows = await self._inner.embed(list(new.values()))
            self._rows.update(zip(new, rows, strict=True))
        self._used.update(keys)
        return stacked([self._rows[key] for key in keys])

    def save(self) -> None:
        """Write the vectors that were used; a disk that takes none is logged."""
        kept = sorted(key for key in self._used if self.cuts.of(key) is None)
        if not kept:
            return
        part = self._file.with_suffix(".part")
        vectors = np.stack([self._rows[key] for key in kept])
        try:
            with part.open("wb") as file:
                np.savez(file, model=np.array(self.model), texts=np.array(kept), vectors=vectors)
            part.replace(self._file)
        except OSError as error:
            log.warning("the vectors are not kept", file=str(self._file), why=str(error))


def _read(file: Path, model: str) -> dict[str, _Row]:
    """The vectors in a file by the hash of their text; none where there are none of this model."""
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as kept:
            if str(kept["model"]) != model:
                return {}
            return dict(zip(kept["texts"].tolist(), kept["vectors"].astype(np.float32), strict=True))
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return {}
