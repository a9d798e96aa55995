"""One process at a time in a data folder, however the one before it ended."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import psutil
import pytest

from services.cli.wiring import data_folder
from services.cli.wiring.data_folder import LOCK, FolderInUse, locked_folder

HOLDING = """
import asyncio, subprocess, sys
from pathlib import Path
from services.cli.wiring.data_folder import locked_folder

async def main():
    async with locked_folder(Path(sys.argv[1])) as lock:
        heirs = (lock,) if sys.argv[2] == "inherited" else ()
        sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
        child = subprocess.Popen(sleep, stdout=subprocess.DEVNULL, pass_fds=heirs)
        print(child.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize("before", ["missing", "empty", "of an older version", "with other files"])
async def test_other_users_cannot_enter_a_data_folder(tmp_path: Path, before: str) -> None:
    folder = tmp_path / "data"
    if before != "missing":
        folder.mkdir()
        folder.chmod(0o755)
    if before == "of an older version":
        (folder / LOCK).touch()
    if before == "with other files":
        (folder / "thesis.txt").touch()
    async with locked_folder(folder):
        mode = folder.stat().st_mode & 0o777
    assert mode == (0o755 if before == "with other files" else 0o700)


async def holding(folder: Path, how: str) -> tuple[Process, psutil.Process]:
    """A process that has the folder, and a child of it that does or does not hold the lock as well."""
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDING, str(folder), how, stdout=PIPE
    )
    assert holder.stdout is not None
    return holder, psutil.Process(int(await holder.stdout.readline()))


async def test_the_process_that_has_a_folder_is_named(tmp_path: Path) -> None:
    async with locked_folder(tmp_path / "new"):
        with pytest.raises(FolderInUse, match=rf"new is in use by process {os.getpid()}$"):
            async with locked_folder(tmp_path / "new"):
                pass
    async with locked_folder(tmp_path / "new"):
        assert (tmp_path / "new" / LOCK).read_text() == f"{os.getpid()}\n"


async def test_a_folder_is_free_again_when_its_process_was_killed(tmp_path: Path) -> None:
    holder, child = await holding(tmp_path, "alone")
    try:
        with pytest.raises(FolderInUse, match=f"process {holder.pid}$"):
            async with locked_folder(tmp_path):
                pass
        holder.send_signal(signal.SIGKILL)
        await holder.wait()
        async with locked_folder(tmp_path):
            assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
    finally:
        child.kill()


async def test_a_broker_that_outlives_its_process_is_waited_for(tmp_path: Path) -> None:
    holder, child = await holding(tmp_path, "inherited")
    entered = asyncio.Event()

    async def enter() -> None:
        async with locked_folder(tmp_path):
            entered.set()

    try:
        holder.send_signal(signal.SIGKILL)
        await holder.wait()
        entering = asyncio.create_task(enter())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(entered.wait(), 0.3)
        child.kill()
        await entering
        assert entered.is_set()
    finally:
        child.kill()


async def test_a_broker_that_stays_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_folder, "_BROKER_ENDS_WITHIN", 0.2)
    holder, child = await holding(tmp_path, "inherited")
    try:
        holder.send_signal(signal.SIGKILL)
        await holder.wait()
        with pytest.raises(FolderInUse, match=f"in use by the broker that process {holder.pid} left"):
            async with locked_folder(tmp_path):
                pass
    finally:
        child.kill()
