"""A BERT sentence encoder by ONNX Runtime and tokenizers, without torch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from services.indexer.encoder import ON_PROCESSOR, BatchSize
from services.runtime.embedding import Vectors

_FILES = (
    "config.json",
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "tokenizer.json",
    "model.safetensors",
)


class OnnxEncoder:
    """Mean-pooled vectors of the last layer.

    Args:
        session: The graph of `bert_graph` in ONNX Runtime.
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
        lengths = np.array([len(row) for row in rows], dtype=np.int32)
        ids = np.zeros((len(rows), lengths.max()), dtype=np.int32)
        for padded, row in zip(ids, rows, strict=True):
            padded[: len(row)] = row
        (hidden,) = self._session.run(None, {"ids": ids, "lengths": lengths})
        read = np.arange(ids.shape[1]) < lengths[:, None]
        pooled: Vectors = np.einsum("ntw,nt->nw", hidden, read.astype(np.float32)) / lengths[:, None]
        return pooled.astype(np.float32)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]


def _cut(ids: list[int], limit: int) -> list[int]:
    """The first tokens, and the last one, which marks the end."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def is_readable(folder: Path) -> bool:
    """Whether a folder has a model that this module can compute: BERT, mean pooling, PyTorch's weights."""
    if not all((folder / name).is_file() for name in _FILES):
        return False
    config, pooling = _read(folder / "config.json"), _read(folder / "1_Pooling" / "config.json")
    modules = {str(module["type"]).rpartition(".")[2] for module in _read(folder / "modules.json")}
    return (
        (config.get("model_type"), config.get("hidden_act")) == ("bert", "gelu")
        and pooling.get("pooling_mode_mean_tokens") is True
        and modules <= {"Transformer", "Pooling", "Normalize"}
    )


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def load_onnx(folder: Path, threads: int) -> OnnxEncoder:
    """Load a model.

    Args:
        folder: Where its files are, see `is_readable`.
        threads: Number of threads.

    Raises:
        ValueError: The model is no BERT encoder with exact GELU and learned positions.
    """
    import onnxruntime
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    from services.indexer.onnx_graph import bert_graph

    config = _read(folder / "config.json")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Threads that spin while they wait take the processor from the event loop.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    graph = bert_graph(load_file(folder / "model.safetensors"), config)
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    limit = _read(folder / "sentence_bert_config.json")["max_seq_length"]
    return OnnxEncoder(session, tokenizer, int(limit))
