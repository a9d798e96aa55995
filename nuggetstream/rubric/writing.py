"""Results about graded passages, leaderboards and runs as files: strict JSON and CSV."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nuggetstream.files.table_writing import rows_of, write_csv
from nuggetstream.files.tables import Table
from nuggetstream.files.writing import write_json, write_table
from nuggetstream.rubric.check_page import write_page
from nuggetstream.rubric.checking import Check
from nuggetstream.rubric.correlating import Comparison
from nuggetstream.rubric.covering import Coverage
from nuggetstream.rubric.label_agreement import LabelAgreement
from nuggetstream.rubric.listings import listings
from nuggetstream.rubric.measuring import RunsMeasured
from nuggetstream.rubric.scoring import Scoring

Json = dict[str, Any]

_RUN_COLUMNS = ("run", "received", "scored", "unranked")


def write_cover(
    coverage: Coverage, out: Path, studies: Mapping[str, Table] = MappingProxyType({})
) -> list[Path]:
    """Write cover.json, cover.csv and cover-queries.csv, and a CSV file per study; returns the paths.

    Args:
        coverage: The cover of all systems.
        out: Folder, created when missing.
        studies: Name -> table, such as "pair"; it is written as cover-pair.csv, and under its name in JSON.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    systems: list[Json] = [
        {"system": system.system, **coverage.shares(system.score), "ranked": system.ranked}
        for system in coverage.systems
    ]
    content: Json = {
        "rests_on": {
            **asdict(coverage.graded.basis),
            "k": coverage.k,
            "minimum": coverage.minimum,
            "unanswerable": coverage.unanswerable.value,
            "alpha": coverage.alpha,
            "queries_counted": coverage.overall.queries,
            "queries_answerable": coverage.overall.answerable,
            "queries_left_out": coverage.left_out,
        },
        "notes": [asdict(note) for note in coverage.notes],
        "overall": coverage.shares(coverage.overall),
        "systems": systems,
        **{name: {"rows": rows_of(study), "notes": list(study.notes)} for name, study in studies.items()},
    }
    return [
        write_json(out / "cover.json", content),
        write_csv(out / "cover.csv", coverage.table()),
        *(
            write_csv(out / f"cover-{name.replace('_', '-')}.csv", study)
            for name, study in {"queries": coverage.per_query(), **studies}.items()
        ),
    ]


def write_check(checked: Check, out: Path) -> list[Path]:
    """Write verify.json, verify.html and one CSV file per listing; returns the paths.

    A listing that is undefined, for instance because no passage was judged, has no file and is null.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    spurious = None if checked.spurious is None else sum(map(len, checked.spurious.values()))
    content = {
        "rests_on": {
            **asdict(checked.graded.basis),
            **asdict(checked.limits),
            "judged_relevant": checked.relevant,
            "judged_not_relevant": checked.not_relevant,
        },
        "notes": [asdict(note) for note in checked.notes],
        "grades": {str(grade): count for grade, count in checked.counts.items()},
        "spurious": spurious,
        "uncovered": None if checked.uncovered is None else len(checked.uncovered),
        "contradicted": None if checked.contradicted is None else len(checked.contradicted),
        "alike": len(checked.alike),
        "listed": len(checked.listing),
    }
    written = [write_csv(out / f"{name}.csv", table) for name, table in listings(checked).items()]
    return [write_json(out / "verify.json", content), write_page(checked, out / "verify.html"), *written]


def write_comparison(comparison: Comparison, out: Path) -> list[Path]:
    """Write correlation.json and systems.csv; returns both paths.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    first, official = comparison.first, comparison.official
    content = {
        "rests_on": {
            "first": _side(first),
            "official": _side(official),
            "systems": comparison.correlation.systems,
            "queries": None if comparison.queries is None else comparison.queries.shared,
            "ties_broken": comparison.ties_broken,
        },
        "notes": [asdict(note) for note in comparison.notes],
        "spearman": comparison.correlation.spearman,
        "kendall": comparison.correlation.kendall,
        "only_first": list(comparison.only_first),
        "only_official": list(comparison.only_official),
    }
    rows = [
        {"system": system, "first": first.shown(system), "official": official.shown(system)}
        for system in dict.fromkeys([*official.scores, *first.scores])
    ]
    return [
        write_json(out / "correlation.json", content),
        write_table(out / "systems.csv", ("system", "first", "official"), rows),
    ]


def write_kappa(agreement: LabelAgreement, out: Path) -> list[Path]:
    """Write kappa.json and confusion.csv; returns both paths.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    content = {
        "rests_on": {
            "first": {"file": agreement.first.source, "labels": len(agreement.first.labels)},
            "second": {"file": agreement.second.source, "labels": len(agreement.second.labels)},
            "pairs": agreement.pairs,
        },
        "notes": [asdict(note) for note in agreement.notes],
        "observed_agreement": agreement.observed,
        "kappa": {
            "unweighted": agreement.unweighted,
            "linear": agreement.linear,
            "quadratic": agreement.quadratic,
        },
        "intervals": agreement.intervals,
        "only_first": list(agreement.only_first),
        "only_second": list(agreement.only_second),
    }
    rows = [
        {"first": first, "second": second, "items": count}
        for first, counts in zip(agreement.labels, agreement.counts, strict=True)
        for second, count in zip(agreement.labels, counts, strict=True)
    ]
    columns = ("first", "second", "items")
    return [write_json(out / "kappa.json", content), write_table(out / "confusion.csv", columns, rows)]


def write_runs(measured: RunsMeasured, out: Path) -> list[Path]:
    """Write measure.json and measure.csv (a row per run and measure); returns both paths.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    content = {
        "rests_on": {
            "qrels": measured.source,
            "labels": measured.labels,
            "queries": measured.queries,
            "queries_without_relevant": measured.without_relevant,
        },
        "notes": [asdict(note) for note in measured.notes],
        "runs": [asdict(run) for run in measured.runs],
        "fused": None if measured.fused is None else asdict(measured.fused),
    }
    rows = [
        {"measure": measure, **asdict(mean), **{name: getattr(run, name) for name in _RUN_COLUMNS}}
        for run in (*measured.runs, *([measured.fused] if measured.fused else []))
        for measure, mean in run.means.items()
    ]
    columns = ("run", "measure", "mean", "error", *_RUN_COLUMNS[1:])
    return [write_json(out / "measure.json", content), write_table(out / "measure.csv", columns, rows)]


def _side(scoring: Scoring) -> Json:
    return {"file": scoring.source, "what": scoring.what, "systems": len(scoring.scores)}
