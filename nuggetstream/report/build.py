"""A file of results in, a report out."""

import json
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.files.dataset import UnusableFile
from nuggetstream.report.drawing.words import of, whole
from nuggetstream.report.page import render
from nuggetstream.report.rows import Results, read_results
from nuggetstream.report.sections import make

PAGE = "report.html"
NUMBERS = "report.json"


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, and what it rests on."""

    page: Path
    numbers: Path
    scored: int
    received: int


def write_report(path: Path, out: Path) -> Written:
    """Write OUT/report.html and OUT/report.json for a file of evaluated battles.

    Args:
        path: results.jsonl of an evaluation.
        out: folder, created when missing.

    Raises:
        UnusableFile: `path` cannot be read, is no file of results, or holds no battle.
    """
    results = read_results(path)
    if not results.rows:
        raise UnusableFile(f"{path}: holds no evaluated battle")
    made = make(results)
    scored = results.summary.scored
    page = render([section for section, _ in made], _title(results), _subtitle(results))
    numbers = {
        "file": results.name,
        "received": results.received,
        "scored": scored,
        "sections": {section.name: found for section, found in made},
    }
    out.mkdir(parents=True, exist_ok=True)
    written = Written(out / PAGE, out / NUMBERS, scored, results.received)
    written.page.write_text(page, encoding="utf-8")
    text = json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False)
    written.numbers.write_text(text + "\n", encoding="utf-8")
    return written


def _title(results: Results) -> str:
    arenas = list(dict.fromkeys(row.arena for row in results.rows))
    return arenas[0] if len(arenas) == 1 else f"{len(arenas)} arenas"


def _subtitle(results: Results) -> str:
    systems = {name for battle in results.battles for name in (battle.system_a, battle.system_b)}
    scored = of(results.summary.scored, results.received)
    return f"{scored} received are scored, between {whole(len(systems))} systems. From {results.name}."
