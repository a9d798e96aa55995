"""A pool of extraction processes, which are replaced when they hang, die or have read many documents."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from services.scraper.extraction import MAX_FRAME_BYTES, PREFIX, Extraction, ExtractionFailed, ExtractionJob
from services.scraper.settings import ScraperSettings

_START_SECONDS = 60.0
_GRACE_SECONDS = 5.0
_DYING_SECONDS = 1.0
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP)
_EXIT_MEANINGS = {3: "out of memory", -signal.SIGKILL: "killed", -signal.SIGALRM: "out of time"} | {
    -crash: "crashed" for crash in _CRASHES
}
_SOURCE_ROOT = Path(__file__).resolve().parents[2]
# The process reads hostile documents, so it gets none of the parent's keys and passwords.
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR", "SYSTEMROOT")


def extractor_command(settings: ScraperSettings) -> tuple[str, ...]:
    """The command that starts an extraction process."""
    memory, seconds = settings.extraction_memory_bytes, settings.extraction_seconds + _GRACE_SECONDS
    module = "services.scraper.extractor"
    return (sys.executable, "-P", "-m", module, "--memory", str(memory), "--seconds", str(seconds))


class ExtractionPool:
    """Extracts the text of documents in other processes.

    Args:
        settings: Number and limits of the processes.
        command: Command that starts one process, which exchanges the frames of `extraction`; that of
            `extractor_command` by default.
    """

    def __init__(self, settings: ScraperSettings, command: Sequence[str] | None = None) -> None:
        self._settings = settings
        self._command = tuple(command or extractor_command(settings))
        self._idle: asyncio.LifoQueue[_Worker | None] = asyncio.LifoQueue()
        self._alive: set[_Worker] = set()

    async def __aenter__(self) -> Self:
        """Start one process now, so that a broken installation is noticed; the others start on demand."""
        for _ in range(self._settings.extraction_workers - 1):
            self._idle.put_nowait(None)
        self._idle.put_nowait(await self._start())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._alive:
            worker.kill()
        await asyncio.gather(*(self._end(worker) for worker in list(self._alive)))

    @property
    def process_ids(self) -> list[int]:
        """Ids of the running processes."""
        return [worker.process.pid for worker in self._alive]

    async def extract(self, job: ExtractionJob) -> Extraction:
        """Extract the text of one document.

        Raises:
            ExtractionFailed: The document is damaged, or its process hung, died or ran out of memory.
        """
        worker = await self._idle.get()
        keep: _Worker | None = None
        try:
            worker = worker or await self._start()
            answer = await self._ask(worker, job)
            keep = worker
        finally:
            if keep is not None and keep.jobs >= self._settings.extraction_jobs_per_worker:
                keep = None
            self._idle.put_nowait(keep)
            if worker is not None and keep is None:
                await self._end(worker)
        if "error" in answer:
            raise ExtractionFailed(str(answer["error"]))
        return Extraction(**answer)

    async def _ask(self, worker: "_Worker", job: ExtractionJob) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._settings.extraction_seconds):
                return await worker.ask(job.frame())
        except TimeoutError as error:
            raise ExtractionFailed(f"not read within {self._settings.extraction_seconds:g} s") from error
        except (OSError, EOFError) as error:
            status = await worker.exit_status()
            meaning = _EXIT_MEANINGS.get(status, f"exit status {status}")
            raise ExtractionFailed(f"the extraction process died: {meaning}") from error
        except ValueError as error:
            raise ExtractionFailed(f"the extraction process sent an invalid reply: {error}") from error

    async def _start(self) -> "_Worker":
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment | {"PYTHONPATH": str(_SOURCE_ROOT)},
        )
        worker = _Worker(process)
        self._alive.add(worker)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await worker.read()
        except (TimeoutError, OSError, EOFError, ValueError) as error:
            await self._end(worker)
            raise ExtractionFailed("the extraction process does not start") from error
        except BaseException:
            await self._end(worker)
            raise
        return worker

    async def _end(self, worker: "_Worker") -> None:
        self._alive.discard(worker)
        await worker.killed()


class _Worker:
    """One extraction process and its pipes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("an extraction process needs both pipes")
        self.process = process
        self.jobs = 0
        self._input = process.stdin
        self._output = process.stdout

    async def ask(self, data: bytes) -> dict[str, Any]:
        """Send a frame and receive the header of the reply."""
        self.jobs += 1
        self._input.write(data)
        await self._input.drain()
        return await self.read()

    async def read(self) -> dict[str, Any]:
        """Receive the header of the next frame.

        Raises:
            EOFError: The process ended; IncompleteReadError is an EOFError.
            ValueError: The frame is invalid.
        """
        header_length, body_length = PREFIX.unpack(await self._output.readexactly(PREFIX.size))
        if header_length + body_length > MAX_FRAME_BYTES:
            raise ValueError(f"a reply of more than {MAX_FRAME_BYTES} bytes")
        header = json.loads(await self._output.readexactly(header_length))
        await self._output.readexactly(body_length)
        if not isinstance(header, dict):
            raise ValueError("a reply that is not a JSON object")  # noqa: TRY004 - a malformed frame
        return header

    async def exit_status(self) -> int:
        """The exit status of a process that closed its pipes."""
        # Killing it at once would reap it behind the event loop's back, and its status would be lost.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DYING_SECONDS):
                return await self.process.wait()
        return await self.killed()

    async def killed(self) -> int:
        """Kill the process if it still runs; its exit status."""
        self.kill()
        return await self.process.wait()

    def kill(self) -> None:
        """Kill the process if it still runs."""
        self._input.close()
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
