"""Makes the environment that the targets of the Makefile run in, with the standard library alone.

    python deploy/environment.py FOLDER MEGABYTES PIP-ARGUMENT...

It says at once what it does, shows that it goes on while pip downloads and installs, and tells in one
sentence what to do when that fails. MEGABYTES is what the installation takes on the disk.
"""

import queue
import re
import shutil
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Iterator
from pathlib import Path

# What pip or a compiler says -> what to do. The first that matches is told.
ADVICE = {
    r"No space left on device|Disk quota exceeded|Errno 28|Errno 122": (
        "the disk is full: free {megabytes} MB, or clone to another disk, and run make again"
    ),
    r"Permission denied|Read-only file system|Errno 13|Errno 30": (
        "{folder} cannot be written to: clone to a folder of your own, and run make there"
    ),
    r"(?s)(NewConnectionError|ConnectTimeout|Name or service not known|Temporary failure in name resolution|"
    r"Network is unreachable|ProxyError|SSLError|Failed to establish a new connection|ReadTimeoutError)": (
        "packages cannot be downloaded: check the network, or set PIP_INDEX_URL, and run make again"
    ),
    r"(?:Failed building wheel for|Failed to build|Could not build wheels for) (?P<package>[\w.-]+)": (
        "{package} has no ready package for this machine and must be compiled: install a C compiler "
        "(Debian: apt install build-essential python3-dev), or use Python 3.11 to 3.13 on Linux or macOS"
    ),
    r"No matching distribution found for (?P<package>[^\s(]+)": (
        "{package} is not offered for this Python and machine: use Python 3.11 to 3.13"
    ),
    r"No module named '?ensurepip": (
        "this Python has no venv module: install it (Debian: apt install python3-venv)"
    ),
}
LAST = 15  # lines of an output that no advice fits


class Unusable(Exception):
    """The environment cannot be made; the message says what to do."""


def main(folder: Path, megabytes: int, arguments: list[str]) -> None:
    """Make the environment where there is none, and install into it.

    Raises:
        Unusable: It cannot be made.
    """
    began = time.monotonic()
    print(f"setting up {folder} (once, about {megabytes} MB)", flush=True)
    if not (folder / "bin" / "python").exists():
        require_space(folder, megabytes)
        create(folder, megabytes)
    install(folder, megabytes, arguments)
    print(f"{folder} is ready after {time.monotonic() - began:.0f} s", flush=True)


def require_space(folder: Path, megabytes: int) -> None:
    """Check the free space before anything is downloaded.

    Raises:
        Unusable: There is less than the installation takes.
    """
    free = shutil.disk_usage(folder.parent.resolve()).free // 1_000_000
    if free < megabytes:
        raise Unusable(
            f"{megabytes} MB are needed and {free} MB are free: free some, or clone to another disk"
        )


def create(folder: Path, megabytes: int) -> None:
    """Make an empty virtual environment with pip.

    Raises:
        Unusable: The folder cannot be written to, or Python has no venv module.
    """
    try:
        venv.create(folder, with_pip=True, clear=folder.exists())
    except (OSError, subprocess.CalledProcessError) as error:
        output = getattr(error, "output", None) or b""
        raise Unusable(advice(f"{error}\n{output.decode(errors='replace')}", folder, megabytes)) from error


def install(folder: Path, megabytes: int, arguments: list[str]) -> None:
    """Run pip, and show that it goes on.

    Raises:
        Unusable: pip failed.
    """
    pip = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--no-compile",  # all modules take longer than to install them, and few are ever imported
    ]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [*pip, "--progress-bar", "off", "--retries", "2", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    said = "".join(shown(process))
    if process.wait():
        raise Unusable(advice(said, folder, megabytes))


def shown(process: "subprocess.Popen[str]") -> Iterator[str]:
    """The lines that pip writes, while one line of the terminal says how far it is."""
    lines: queue.Queue[str | None] = queue.Queue()
    assert process.stdout is not None  # noqa: S101 - it is a pipe

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    began, packages, doing = time.monotonic(), 0, "looking for packages"
    in_place, told = sys.stdout.isatty(), 0.0
    while True:
        seconds = time.monotonic() - began
        if in_place or seconds - told >= 15:
            told = seconds
            line = f"  {seconds:4.0f} s  {doing}"
            print(f"\r{line[: shutil.get_terminal_size().columns - 1]}\033[K" if in_place else line,
                  end="" if in_place else "\n", flush=True)  # fmt: skip
        try:
            line_said = lines.get(timeout=1)
        except queue.Empty:
            continue
        if line_said is None:
            break
        if found := re.match(r"\s*(?:Collecting|Downloading|Processing) (\S+)", line_said):
            packages += line_said.startswith("Collecting")
            doing = f"{packages} packages, now {found[1].rpartition('/')[2]}"
        elif line_said.startswith("Installing collected packages"):
            doing = f"unpacking {line_said.count(',') + 1} packages"
        yield line_said
    if in_place:
        print("\r\033[K", end="", flush=True)


def advice(output: str, folder: Path, megabytes: int) -> str:
    """What to do after an output; its last lines where nothing is known about it.

    >>> advice("OSError: [Errno 28] No space left on device", Path(".venv"), 600)
    'the disk is full: free 600 MB, or clone to another disk, and run make again'
    """
    for pattern, told in ADVICE.items():
        if found := re.search(pattern, output):
            return told.format(folder=folder.parent.resolve(), megabytes=megabytes, **found.groupdict())
    return "pip could not install the packages:\n" + "\n".join(output.splitlines()[-LAST:])


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    except Unusable as unusable:
        sys.exit(f"\n{unusable}")
    except KeyboardInterrupt:
        sys.exit("\nstopped; make goes on where it was")
