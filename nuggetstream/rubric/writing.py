"""What a rubric says, as files: strict JSON and CSV."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nuggetstream.files.qrels import qrels_text
from nuggetstream.files.writing import write_json, write_table
from nuggetstream.rubric.checking import Check
from nuggetstream.rubric.correlating import Compared
from nuggetstream.rubric.cover import CoverScore
from nuggetstream.rubric.covering import Coverage
from nuggetstream.rubric.labelling import Labelled
from nuggetstream.rubric.measuring import RunsMeasured
from nuggetstream.rubric.scorings import Scoring

Json = dict[str, Any]

_OF_A_RUN = ("run", "received", "scored", "unranked")
_SHARES = ("cover", "cover_error", "n_exam", "n_exam_error")


def write_cover(found: Coverage, out: Path) -> list[Path]:
    """Write cover.json and cover.csv; returns both paths.

    Raises:
        OSError: the folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    systems = [
        {"system": each.system, **_shares(each.score), "ranked": each.ranked} for each in found.systems
    ]
    content = {
        "rests_on": {
            **asdict(found.graded.basis),
            "k": found.k,
            "minimum": found.minimum,
            "queries_counted": found.overall.queries,
            "queries_answerable": found.overall.answerable,
            "queries_left_out": found.left_out,
        },
        "notes": [asdict(note) for note in found.notes],
        "overall": _shares(found.overall),
        "systems": systems,
    }
    return [
        write_json(out / "cover.json", content),
        write_table(out / "cover.csv", ("system", *_SHARES, "ranked"), systems),
    ]


def write_labels(found: Labelled, out: Path) -> Path:
    """Write a qrels file, its folder created when missing.

    Raises:
        OSError: it cannot be written.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(qrels_text(found.labels), encoding="utf-8")
    return out


def write_check(found: Check, out: Path) -> list[Path]:
    """Write verify.json and one CSV file per listing; returns the paths.

    A listing that has no answer, for instance because nobody judged a passage, has no file and is null.

    Raises:
        OSError: the folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    spurious = None if found.spurious is None else sum(map(len, found.spurious.values()))
    content = {
        "rests_on": {
            **asdict(found.graded.basis),
            **asdict(found.limits),
            "judged_relevant": found.relevant,
            "judged_not_relevant": found.not_relevant,
        },
        "notes": [asdict(note) for note in found.notes],
        "grades": {str(grade): count for grade, count in found.counts.items()},
        "spurious": spurious,
        "uncovered": None if found.uncovered is None else len(found.uncovered),
        "listed": len(found.listing),
    }
    tables = _check_tables(found)
    written = [write_table(out / name, columns, rows) for name, (columns, rows) in tables.items()]
    return [write_json(out / "verify.json", content), *written]


def write_comparison(found: Compared, out: Path) -> list[Path]:
    """Write correlation.json and systems.csv; returns both paths.

    Raises:
        OSError: the folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    content = {
        "rests_on": {
            "first": _side(found.first),
            "official": _side(found.official),
            "systems": found.found.systems,
            "queries": None if found.queries is None else found.queries.shared,
            "ties_broken": found.sought.break_ties,
        },
        "notes": [asdict(note) for note in found.notes],
        "spearman": found.found.spearman,
        "kendall": found.found.kendall,
        "only_first": list(found.only_first),
        "only_official": list(found.only_official),
    }
    first, official = found.first, found.official
    rows = [
        {"system": system, "first": first.shown(system), "official": official.shown(system)}
        for system in dict.fromkeys([*official.scores, *first.scores])
    ]
    return [
        write_json(out / "correlation.json", content),
        write_table(out / "systems.csv", ("system", "first", "official"), rows),
    ]


def write_runs(found: RunsMeasured, out: Path) -> list[Path]:
    """Write measure.json and measure.csv (a row per run and measure); returns both paths.

    Raises:
        OSError: the folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    everyone = [*found.runs, *([found.fused] if found.fused else [])]
    content = {
        "rests_on": {
            "qrels": found.qrels,
            "labels": found.labels,
            "queries": found.queries,
            "queries_without_relevant": found.hopeless,
        },
        "notes": [asdict(note) for note in found.notes],
        "runs": [asdict(each) for each in found.runs],
        "fused": None if found.fused is None else asdict(found.fused),
    }
    rows = [
        {"measure": measure, **asdict(mean), **{name: getattr(each, name) for name in _OF_A_RUN}}
        for each in everyone
        for measure, mean in each.means.items()
    ]
    columns = ("run", "measure", "mean", "error", *_OF_A_RUN[1:])
    return [write_json(out / "measure.json", content), write_table(out / "measure.csv", columns, rows)]


def _check_tables(found: Check) -> Mapping[str, tuple[tuple[str, ...], list[Json]]]:
    tables: dict[str, tuple[tuple[str, ...], list[Json]]] = {}
    if found.spurious is not None:
        tables["spurious.csv"] = (
            ("query", "item", "passages", "text"),
            [
                {"query": query, **asdict(item), "text": found.texts.get(item.item)}
                for query, items in found.spurious.items()
                for item in items
            ],
        )
    if found.uncovered is not None:
        tables["uncovered.csv"] = (
            ("query", "passage", "judgment", "best", "text"),
            [asdict(passage) for passage in found.uncovered],
        )
    tables["grid.csv"] = (
        ("query", "passage", "item", "grade"),
        [
            {"query": query, "passage": passage, "item": item, "grade": grade}
            for query, grid in found.grids.items()
            for passage, grades in zip(grid.passages, grid.grades, strict=True)
            for item, grade in zip(grid.items, grades, strict=True)
        ],
    )
    tables["listing.csv"] = (
        ("query", "item", "grade", "passage", "reply", "text"),
        [asdict(answer) for answer in found.listing],
    )
    return tables


def _shares(score: CoverScore) -> Json:
    return {name: getattr(score, name) for name in _SHARES}


def _side(scoring: Scoring) -> Json:
    return {"file": scoring.file, "what": scoring.what, "systems": len(scoring.scores)}
