"""What this machine can compute embedding models with, found out without importing torch."""

import platform
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from services.indexer.choosing import Machine
from services.indexer.numpy_encoder import MULTILINGUAL, has_multilingual
from services.indexer.onnx_encoder import is_readable
from services.indexer.packaged import model_folder

_ONNX = ("onnx", "onnxruntime", "safetensors", "tokenizers")
_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}  # flags of x86 processors, and of those by ARM
_LIBRARIES = ("torch", "transformers", "sentence-transformers", "onnxruntime")
_NVIDIA, _AMD = Path("/dev/nvidiactl"), Path("/dev/kfd")


def machine_for(model: str) -> Machine:
    """What can compute a model here."""
    if model == MULTILINGUAL:
        return Machine(onnx=False, torch=False, numpy=has_multilingual())
    folder = Path(model_folder(model))
    return Machine(
        onnx=all(map(find_spec, _ONNX)) and is_readable(folder),
        torch=find_spec("sentence_transformers") is not None,
        devices=_devices(),
        bfloat16=not _BFLOAT16.isdisjoint(_flags(_processor_lines())),
    )


def fingerprint() -> str:
    """What a measurement depends on beside the model: the processor, devices and versions of libraries."""
    lines = _processor_lines()
    names = sorted({line.partition(":")[2].strip() for line in lines if line.startswith("model name")})
    cards = sorted(
        path.read_text(encoding="utf-8").splitlines()[0]
        for path in Path("/proc/driver/nvidia/gpus").glob("*/information")
    )
    flags = "bfloat16" if not _BFLOAT16.isdisjoint(_flags(lines)) else ""
    found = [platform.machine(), *names, flags, *cards, *_devices(), *map(_version, _LIBRARIES)]
    return " | ".join(part for part in found if part)


def _devices() -> list[str]:
    if _NVIDIA.exists() or _AMD.exists():
        return ["cuda"]  # torch's name for those by AMD, too
    return ["mps"] if sys.platform == "darwin" and platform.machine() == "arm64" else []


def _processor_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _flags(lines: Iterable[str]) -> set[str]:
    named = [line for line in lines if line.startswith(("flags", "Features"))]
    return {flag for line in named for flag in line.partition(":")[2].split()}


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""
