"""The output folder of the demo. A demo replaces the files of an earlier demo, and no other files."""

import shutil
from pathlib import Path

from services.cli.commands.showing import BadInput
from services.cli.wiring.data_folder import locked_folder

MARK = "made-by-nuggetstream-demo.txt"
STATE = "state"
PAGES = "pages"
VECTORS = "vectors.npz"  # of the texts of the demo, which the next demo does not compute again
_MARK_TEXT = (
    "`nuggetstream demo` created this folder; the next demo replaces the results, pages/ and state/ in it.\n"
)
_FILES = ("results.jsonl", "rejected.jsonl", "summary.json", "summary.txt")
_PAGES = ("index*.html", "battles-demo-*.html", "leaderboard*.html", "static-*")
_DATABASE = "nuggetstream.db*"  # with its journals


class NotOfADemo(BadInput):
    """The folder has files that are not a demo's; the message says what to do."""


def claim(out: Path) -> None:
    """Mark a folder as a demo's; the folder is created if missing.

    Raises:
        NotOfADemo: The folder has files, but not the mark of a demo.
        OSError: The folder cannot be read or written.
    """
    out.mkdir(parents=True, exist_ok=True)
    if (out / MARK).is_file():
        return
    if any(out.iterdir()):
        raise NotOfADemo(
            f"{out} has files that no demo wrote: choose another folder with --out, or empty this one"
        )
    (out / MARK).write_text(_MARK_TEXT, encoding="utf-8")


def unmark(out: Path) -> None:
    """Remove the mark from a folder that gets other results, so that no demo replaces them."""
    (out / MARK).unlink(missing_ok=True)


async def remove_earlier(out: Path) -> None:
    """Remove the files of an earlier demo from its folder, and no others.

    Raises:
        FolderInUse: The earlier demo still runs, or `up` runs on its state.
    """
    async with locked_folder(out / STATE):
        shutil.rmtree(out / STATE / "nats", ignore_errors=True)
        pages = [page for pattern in _PAGES for page in (out / PAGES).glob(pattern)]
        for earlier in (*(out / STATE).glob(_DATABASE), *pages, *(out / file for file in _FILES)):
            earlier.unlink(missing_ok=True)
