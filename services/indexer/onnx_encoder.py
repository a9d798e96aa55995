"""The packaged sentence encoder, by ONNX Runtime and tokenizers: no torch is needed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from services.indexer.encoder import ON_PROCESSOR, BatchSize
from services.runtime.embedding import Vectors


class OnnxEncoder:
    """Mean-pooled vectors of the last layer.

    Args:
        session: A BERT encoder in ONNX Runtime.
        tokenizer: The tokenizer, which neither cuts nor pads.
        limit: The most tokens of a text that are read.
    """

    largest: BatchSize = ON_PROCESSOR

    def __init__(self, session: Any, tokenizer: Any, limit: int) -> None:
        self._session, self._tokenizer, self.limit = session, tokenizer, limit

    def count(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text."""
        return [len(ids) for ids in self._ids(texts)]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions)."""
        rows = [_cut(ids, self.limit) for ids in self._ids(texts)]
        lengths = np.array([len(row) for row in rows])
        ids = np.zeros((len(rows), lengths.max()), dtype=np.int64)
        for padded, row in zip(ids, rows, strict=True):
            padded[: len(row)] = row
        is_read = np.arange(ids.shape[1]) < lengths[:, None]
        inputs = {
            "input_ids": ids,
            "attention_mask": is_read.astype(np.int64),
            "token_type_ids": np.zeros_like(ids),
        }
        (hidden,) = self._session.run(None, inputs)
        pooled: Vectors = np.einsum("ntw,nt->nw", hidden, is_read.astype(np.float32)) / lengths[:, None]
        return pooled.astype(np.float32)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]


def _cut(ids: list[int], limit: int) -> list[int]:
    """The first tokens, and the last one, which marks the end."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def load_onnx(weights: Path, tokenizer: Path, limit: int, threads: int) -> OnnxEncoder:
    """Load a model.

    Args:
        weights: An ONNX file of a BERT encoder.
        tokenizer: The file of its tokenizer.
        limit: The most tokens of a text that it reads.
        threads: Number of threads.
    """
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Threads that spin while they wait take the processor from the event loop.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
    encoder = Tokenizer.from_file(str(tokenizer))
    encoder.no_truncation()
    encoder.no_padding()
    return OnnxEncoder(session, encoder, limit)
