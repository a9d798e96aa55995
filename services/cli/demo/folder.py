"""The folder a demo fills: it replaces what an earlier demo left there, and nothing that others did."""

import json
import shutil
from pathlib import Path

from services.cli.data_folder import LOCK, alone_in
from services.cli.demo.battles import read_battles
from services.cli.demo.site import demo_root
from services.cli.showing import BadInput

MARK = "made-by-nuggetstream-demo.txt"
STATE = "state"
PAGES = "pages"
_SAYS = "`nuggetstream demo` made this folder; the next one replaces the results, pages/ and state/ in it.\n"
_FILES = ("results.jsonl", "rejected.jsonl", "refused.jsonl", "summary.json", "summary.txt")
_OWN = {STATE, PAGES, *_FILES}
_PAGES = ("index*.html", "battles-demo-*.html", "leaderboard*.html", "static-*")
_DATABASE = "nuggetstream.db*"  # with its journals


class NotOfADemo(BadInput):
    """The folder holds what no demo left there; the message says what to do."""


def claim(out: Path) -> None:
    """Mark a folder as the demo's; it is created when missing.

    Raises:
        NotOfADemo: it holds something, and neither the mark nor the results of a demo.
        OSError: it cannot be read or written.
    """
    out.mkdir(parents=True, exist_ok=True)
    if (out / MARK).is_file():
        return
    if any(out.iterdir()) and not _left_unmarked(out):
        raise NotOfADemo(
            f"{out} is not empty and no demo made it: name another folder with --out, or empty this one"
        )
    (out / MARK).write_text(_SAYS, encoding="utf-8")


def disown(out: Path) -> None:
    """Take the mark off a folder that gets results of another kind: no demo may replace those."""
    (out / MARK).unlink(missing_ok=True)


async def remove_earlier(out: Path) -> None:
    """Remove what an earlier demo left in its folder, and nothing else that may lie there.

    Raises:
        FolderInUse: it still runs, or `up` runs on its state.
    """
    async with alone_in(out / STATE):
        shutil.rmtree(out / STATE / "nats", ignore_errors=True)
        pages = [page for pattern in _PAGES for page in (out / PAGES).glob(pattern)]
        for earlier in (*(out / STATE).glob(_DATABASE), *pages, *(out / file for file in _FILES)):
            earlier.unlink(missing_ok=True)


def _left_unmarked(out: Path) -> bool:
    """Whether a demo older than the mark left exactly this: its pages, its state, results of its battles."""
    there = {path.name for path in out.iterdir()}
    if not there <= _OWN or not {STATE, PAGES, "results.jsonl"} <= there:
        return False
    state = (path.name for path in (out / STATE).glob("*"))
    if any(name not in {LOCK, "nats"} and not Path(name).match(_DATABASE) for name in state):
        return False
    if any(not any(page.match(pattern) for pattern in _PAGES) for page in (out / PAGES).glob("*")):
        return False
    try:
        lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
        found = {(row["id"], row["arena"]) for row in map(json.loads, lines)}
    except (ValueError, KeyError, TypeError):  # not results of ours
        return False
    return found == {(battle["id"], battle["arena"]) for battle in read_battles(demo_root(), "")}
