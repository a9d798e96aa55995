"""A lock on the data folder, so that only one process at a time uses it.

The kernel holds the lock: it ends with the processes that hold it, however they end, so there is nothing to
clean up. The broker holds it too, so that the folder stays locked when the broker outlives its parent for a
moment.
"""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

NATS = "nats"  # folder of the broker
LOCK = "lock"  # never removed, or two processes could hold locks on two files of this name
_BROKER_ENDS_WITHIN = 10.0  # seconds from the end of its parent
_POLL = 0.05
_ROOM_MB = 50  # a new database, the streams and an evaluation of some battles take less


class FolderInUse(RuntimeError):
    """Another process uses the data folder; the message names it."""


class NoRoom(RuntimeError):
    """The disk of the data folder is nearly full."""


@asynccontextmanager
async def locked_folder(folder: Path) -> AsyncIterator[int]:
    """Lock a data folder for the duration of the block; the folder is created if missing.

    Other users cannot enter the folder, which has every battle in it.

    When the process that had the lock is gone and only its broker is still ending, this waits for the broker.

    Yields:
        The file descriptor that holds the lock, for child processes that use the folder.

    Raises:
        FolderInUse: Another process has the lock.
        NoRoom: The disk has less than 50 MB free.
        OSError: The folder cannot be created or locked.
    """
    lock = _opened(folder)
    try:
        free = shutil.disk_usage(folder).free // 1_000_000
        if free < _ROOM_MB:
            raise NoRoom(
                f"{free} MB are free on the disk of {folder}, and {_ROOM_MB} are needed: free some space"
            )
        await _take(lock, folder)
        yield lock
    finally:
        os.close(lock)


def _opened(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if (folder / LOCK).exists() or not any(folder.iterdir()):  # a folder with other content is not ours alone
        folder.chmod(0o700)
    return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)


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
    """Id of the process that took the lock last; None when it has not written it yet."""
    content = os.pread(lock, 32, 0).decode("ascii", errors="replace").strip()
    return int(content) if content.isdigit() else None


def _runs(process: int | None) -> bool:
    if process is None:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it runs, as another user
        return True
    return True
