"""The output folder of the demo. A demo replaces the files of an earlier demo, and no other files."""

import json
import shutil
from pathlib import Path

from services.cli.data_folder import LOCK, locked_folder
from services.cli.demo.battles import read_battles
from services.cli.demo.site import demo_root
from services.cli.showing import BadInput

MARK = "made-by-nuggetstream-demo.txt"
STATE = "state"
PAGES = "pages"
_MARK_TEXT = (
    "`nuggetstream demo` created this folder; the next demo replaces the results, pages/ and state/ in it.\n"
)
_FILES = ("results.jsonl", "rejected.jsonl", "refused.jsonl", "summary.json", "summary.txt")
_OWN = {STATE, PAGES, *_FILES}
_PAGES = ("index*.html", "battles-demo-*.html", "leaderboard*.html", "static-*")
_DATABASE = "nuggetstream.db*"  # with its journals


class NotOfADemo(BadInput):
    """The folder has files that are not a demo's; the message says what to do."""


def claim(out: Path) -> None:
    """Mark a folder as a demo's; the folder is created if missing.

    Raises:
        NotOfADemo: The folder has files, but neither the mark nor the results of a demo.
        OSError: The folder cannot be read or written.
    """
    out.mkdir(parents=True, exist_ok=True)
    if (out / MARK).is_file():
        return
    if any(out.iterdir()) and not _left_unmarked(out):
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


def _left_unmarked(out: Path) -> bool:
    """Whether the folder has exactly the files of a demo from before the mark was introduced."""
    names = {path.name for path in out.iterdir()}
    if not names <= _OWN or not {STATE, PAGES, "results.jsonl"} <= names:
        return False
    state = (path.name for path in (out / STATE).glob("*"))
    if any(name not in {LOCK, "nats"} and not Path(name).match(_DATABASE) for name in state):
        return False
    if any(not any(page.match(pattern) for pattern in _PAGES) for page in (out / PAGES).glob("*")):
        return False
    try:
        lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
        battles = {(row["id"], row["arena"]) for row in map(json.loads, lines)}
    except (ValueError, KeyError, TypeError):  # not our results
        return False
    return battles == {(battle["id"], battle["arena"]) for battle in read_battles(demo_root(), "")}
