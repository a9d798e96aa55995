"""Other libraries, each in an environment of its own that is made once under the cache folder."""

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

INSTALL_LIMIT = 600  # seconds
_BASE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def cache_folder(name: str) -> Path:
    """The folder in which the environments of a benchmark are made."""
    return _BASE / "nuggetstream" / name


def environment(peer: str, requirements: Sequence[str], cache: Path) -> str:
    """The interpreter of a peer, with the requirements installed; without requirements it is this one.

    Raises:
        subprocess.SubprocessError: they could not be installed in time.
    """
    if not requirements:
        return sys.executable
    folder = cache / "-".join(requirements).replace("==", "-")
    python, ready = folder / "bin" / "python", folder / ".ready"
    if not ready.exists():
        print(f"installing {peer} into {folder}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", *requirements]
        subprocess.run(command, check=True, timeout=INSTALL_LIMIT, capture_output=True)
        ready.touch()
    return str(python)
