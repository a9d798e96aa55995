"""What a new user is told when the environment cannot be made; the command runs as make runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.environment import advice

SCRIPT = Path(__file__).parents[2] / "deploy" / "environment.py"


def made(folder: Path, megabytes: int, *arguments: str, **variables: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), str(megabytes), *arguments],
        env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_too_little_space_is_told_before_anything_is_made(tmp_path: Path) -> None:
    code, said = made(tmp_path / ".venv", 10**9)
    assert code == 1
    assert "1000000000 MB are needed" in said
    assert not (tmp_path / ".venv").exists()


@pytest.mark.slow
def test_a_package_index_that_does_not_answer_is_told_in_one_sentence(tmp_path: Path) -> None:
    nowhere = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
    }
    code, said = made(tmp_path / ".venv", 1, "a-package", **nowhere)
    first, *rest = said.splitlines()
    assert code == 1
    assert first == f"setting up {tmp_path / '.venv'} (once, about 1 MB)"
    assert (
        rest[-1]
        == "packages cannot be downloaded: check the network, or set PIP_INDEX_URL, and run make again"
    )


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "disk is full",
        ),
        ("[Errno 30] Read-only file system: '/srv/checkout/.venv'", "clone to a folder of your own"),
        ("PermissionError: [Errno 13] Permission denied: '.venv'", "clone to a folder of your own"),
        ("ERROR: Failed building wheel for lxml\nerror: command 'gcc' failed", "lxml has no ready package"),
        ("/usr/bin/python3: No module named ensurepip", "apt install python3-venv"),
        ("ERROR: No matching distribution found for protego>=0.7", "protego>=0.7 is not offered"),
    ],
)
def test_advice_fits_what_pip_says(output: str, told: str) -> None:
    advised = advice(output, Path(".venv"), 700)
    assert told in advised
    assert "\n" not in advised


def test_what_is_not_known_is_shown_as_pip_said_it() -> None:
    assert advice("one\ntwo", Path(".venv"), 1) == "pip could not install the packages:\none\ntwo"
