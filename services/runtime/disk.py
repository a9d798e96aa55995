"""Whether the disk of a folder accepts writes, found out by writing."""

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

Check = Callable[[], Awaitable[str | None]]
"""Returns the problem that prevents work now, as a sentence for a person; None when there is none."""

_ROOM = 1024 * 1024  # bytes that must be free: a database and a broker write more than one page at a time
_WRITTEN = b"\0" * 4096


class DiskProbe:
    """Writes a probe file to a folder, at most once per interval, however often it is asked.

    A file system can be full, read-only or broken while everything that is read from memory still answers.

    Args:
        folder: Existing folder whose disk is examined.
        interval: Seconds for which an answer is reused.
    """

    def __init__(self, folder: Path, interval: float = 1.0) -> None:
        self._folder = folder
        self._interval = interval
        self._lock = asyncio.Lock()
        self._examined_at: float | None = None
        self._problem: str | None = None

    async def problem(self) -> str | None:
        """Why the disk does not accept writes, with the name of the error; None when it does."""
        async with self._lock:
            loop = asyncio.get_running_loop()
            if self._examined_at is None or loop.time() - self._examined_at >= self._interval:
                self._problem = await asyncio.to_thread(self._examine)
                self._examined_at = loop.time()
            return self._problem

    def _examine(self) -> str | None:
        probe = self._folder / f".probe-{os.getpid()}"
        try:
            try:
                _write(probe)
            finally:
                with suppress(FileNotFoundError):
                    probe.unlink()
        except OSError as error:
            return describe(error, self._folder)
        return None


def describe(error: OSError, folder: Path) -> str:
    """Describe a failed write for an operator.

    >>> describe(OSError(errno.ENOSPC, "No space left on device"), Path("/data"))
    'the disk of /data is full (ENOSPC: No space left on device)'
    """
    name = errno.errorcode.get(error.errno or 0, "unknown error")
    state = "is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "cannot be written"
    return f"the disk of {folder} {state} ({name}: {error.strerror})"


def _write(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        if hasattr(os, "posix_fallocate"):  # reserves the room without writing it
            os.posix_fallocate(descriptor, 0, _ROOM)
        os.write(descriptor, _WRITTEN)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
