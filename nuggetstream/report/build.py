"""A file of results in, a report out."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetstream.domain.battle import Side
from nuggetstream.domain.offline import NOTICE
from nuggetstream.files.numerals import integer, part_of
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import Results, read_results
from nuggetstream.report.arrangement import arrange
from nuggetstream.report.mixed_settings import mixture_of
from nuggetstream.report.page import render
from nuggetstream.report.section import Chapter, as_json
from nuggetstream.report.sections import CHAPTERS

PAGE = "report.html"
NUMBERS = "report.json"


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """The files of a report, and how many battles it rests on."""

    page: Path
    numbers: Path
    scored: int
    received: int


Progress = Callable[[str, int, int], None]


def write_report(
    path: Path,
    out: Path,
    chapters: Sequence[Chapter] = CHAPTERS,
    *,
    pages: str | None = None,
    progress: Progress | None = None,
) -> WrittenReport:
    """Write OUT/report.html and OUT/report.json for a file of evaluated battles.

    Args:
        path: results.jsonl of an evaluation.
        out: Folder, created when missing.
        chapters: What the report shows, in order.
        pages: URL of the pages of a platform that has the battles, such as "http://127.0.0.1:8080", for links
            to battles; None without links.
        progress: Called before numbers are computed, with their name, how many sets of numbers are done, and
            how many there are.

    Raises:
        UnusableFile: `path` cannot be read, is not a file of results, or holds no battle.
    """
    results = read_results(path)
    if not results.battles:
        raise UnusableFile(f"{path}: holds no evaluated battle")
    numbers = _numbers(results, chapters, progress)
    report = arrange(chapters, numbers)
    offline = sum(battle.is_offline for battle in results.battles)
    notices = (NOTICE if offline else None, mixture_of(results.battles))
    notice = " ".join(filter(None, notices)) or None
    page = render(report, _title(results), _subtitle(results), notice, pages)
    out.mkdir(parents=True, exist_ok=True)
    written = WrittenReport(out / PAGE, out / NUMBERS, results.scored, results.received)
    written.page.write_text(page, encoding="utf-8")
    whole = {
        "file": results.name,
        "received": results.received,
        "scored": results.scored,
        "offline": offline,
        "findings": [finding for _, finding in report.findings],
        "not_measured": report.not_measured,
        "chapters": [
            {"title": chapter.title, "numbers": list(dict.fromkeys(part.name for part in chapter.parts))}
            for chapter in chapters
        ],
        "numbers": {name: as_json(computed) for name, computed in numbers.items()},
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
    written.numbers.write_text(text + "\n", encoding="utf-8")
    return written


def _numbers(results: Results, chapters: Sequence[Chapter], progress: Progress | None) -> dict[str, Any]:
    """The numbers of all parts, each name computed once."""
    parts = {part.name: part for chapter in chapters for part in chapter.parts}
    numbers: dict[str, Any] = {}
    for done, (name, part) in enumerate(parts.items()):
        if progress is not None:
            progress(name, done, len(parts))
        numbers[name] = part.compute(results)
    return numbers


def _title(results: Results) -> str:
    arenas = list(dict.fromkeys(battle.arena for battle in results.battles))
    return arenas[0] if len(arenas) == 1 else f"{len(arenas)} arenas"


def _subtitle(results: Results) -> str:
    systems = {battle.answer(side).system for battle in results.battles for side in Side}
    scored = part_of(results.scored, results.received, "battles")
    return f"{scored} received are scored, between {integer(len(systems))} systems. From {results.name}."
