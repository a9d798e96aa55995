"""Programs that some tests run and that Python packages do not bring."""

import os
import shutil

import pytest

REQUIRED = bool(os.environ.get("CI"))  # a test that skips in CI would never run anywhere


def find_tool(name: str, package: str) -> str:
    """The path of a program; without it the test skips, and in CI it fails.

    Args:
        name: Name of the program.
        package: What to install to get it.
    """
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
    if (found := shutil.which(name, path=path)) is not None:
        return found
    message = f"{name} is not installed ({package})"
    if REQUIRED:
        pytest.fail(f"{message}, and in CI nothing is skipped")
    pytest.skip(message)
