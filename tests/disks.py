"""A disk of the test's own that can be filled: a tmpfs of a few megabytes."""

import errno
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Disk:
    """A small file system."""

    folder: Path

    def fill(self) -> None:
        """Write until there is no room for another byte."""
        with (self.folder / "ballast").open("ab", buffering=0) as ballast:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(_Full), _full():
                    while True:
                        ballast.write(b"\0" * size)

    def free(self) -> None:
        """Give the room back."""
        (self.folder / "ballast").unlink()


class _Full(Exception):
    pass


@contextmanager
def _full() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise _Full from error


class CannotMount(Exception):
    """This process may not mount a file system; the message says why."""


@contextmanager
def mounted_disk(folder: Path, megabytes: int) -> Iterator[Disk]:
    """A tmpfs mounted on a folder.

    Raises:
        CannotMount: This process may not mount one.
    """
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder))
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CannotMount("there is no mount command") from None
    if done.returncode:
        raise CannotMount(f"mounting a tmpfs failed: {done.stderr.strip()}")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(("umount", "--lazy", str(folder)), check=True)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Disk]:
    """A tmpfs mounted on a folder; the test is skipped where this process may not mount one."""
    with ExitStack() as stack:
        try:
            disk = stack.enter_context(mounted_disk(folder, megabytes))
        except CannotMount as why:
            pytest.skip(f"NOT TESTED: a full disk, because {why}")
        yield disk
