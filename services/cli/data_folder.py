"""One process at a time in a data folder.

The lock is the kernel's: it ends with the processes that hold it, however they end, and leaves nothing to
clean up. The broker holds it too, so that one which outlives its parent for a moment still has the folder to
itself.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

LOCK = "lock"  # never removed: two processes could then hold two locks of one name
_BROKER_ENDS_WITHIN = 10.0  # seconds from the end of its parent
_POLL = 0.05


class FolderInUse(RuntimeError):
    """Another process keeps its streams and its database there; the message says which."""


@asynccontextmanager
async def alone_in(folder: Path) -> AsyncIterator[int]:
    """Have a data folder to oneself for the duration of the block; it is created when missing.

    Where the process that had it is gone and only its broker is still ending, this waits for that.

    Yields:
        The descriptor that holds the lock, for children that use the folder as well.

    Raises:
        FolderInUse: another process has it.
        OSError: the folder cannot be made or locked.
    """
    lock = _opened(folder)
    try:
        await _take(lock, folder)
        yield lock
    finally:
        os.close(lock)


def _opened(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)


async def _take(lock: int, folder: Path) -> None:
    try:
        async with asyncio.timeout(_BROKER_ENDS_WITHIN):
            while not _locked(lock):
                if _runs(holder := _holder(lock)):
                    raise FolderInUse(f"{folder} is in use by process {holder or '(not yet known)'}")
                await asyncio.sleep(_POLL)
    except TimeoutError:
        raise FolderInUse(f"{folder} is in use by the broker that process {_holder(lock)} left") from None
    written = os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    os.ftruncate(lock, written)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(lock: int) -> int | None:
    """The process that took the lock last; None when it has not said so yet."""
    said = os.pread(lock, 32, 0).decode("ascii", errors="replace").strip()
    return int(said) if said.isdigit() else None


def _runs(process: int | None) -> bool:
    if process is None:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it runs, as somebody else
        return True
    return True
