"""Results about a crowd as files: crowd.json, gold.csv, workers.csv; grades.json, grades.csv."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from nuggetstream.crowd.dimension import ALPHA_KINDS, DimensionStudy
from nuggetstream.crowd.pair_split import PairGroup
from nuggetstream.crowd.study import CrowdStudy
from nuggetstream.crowd.topic_grades import TopicGrades
from nuggetstream.files.table_writing import write_csv
from nuggetstream.files.writing import write_json

Json = dict[str, Any]


def write_crowd(study: CrowdStudy, out: Path, *, file: str, rows: int) -> list[Path]:
    """Write crowd.json, gold.csv (one row per dimension and item) and workers.csv.

    Args:
        study: The study to write.
        out: Folder, made if it does not exist.
        file: Path of the file that was read.
        rows: Number of its rows.

    Returns:
        The paths written.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    return [
        write_json(out / "crowd.json", _as_json(study, file=file, rows=rows)),
        write_csv(out / "gold.csv", study.gold_table()),
        write_csv(out / "workers.csv", study.workers_table()),
    ]


def write_grades(grades: TopicGrades, out: Path, *, file: str, rows: int) -> list[Path]:
    """Write grades.json (what the grades are computed from) and grades.csv (one row per item).

    Args:
        grades: The grades to write.
        out: Folder, made if it does not exist.
        file: Path of the file that was read.
        rows: Number of its rows.

    Returns:
        The paths written.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    basis = {
        "file": file,
        "rows": rows,
        "labels": grades.labels,
        "unlabelled": grades.unlabelled,
        "topics": grades.topics,
        "dimensions": list(grades.dimensions),
        "regularisation": grades.regularisation,
        "tie": grades.tie,
        "shared": sum(item.shared for item in grades.items),
    }
    return [
        write_json(out / "grades.json", {"rests_on": basis}),
        write_csv(out / "grades.csv", grades.table()),
    ]


def _as_json(study: CrowdStudy, *, file: str, rows: int) -> Json:
    """Every number except those of single items and workers, as plain JSON values."""
    options, split = study.options, study.split
    return {
        "rests_on": {
            "file": file,
            "rows": rows,
            "votes": study.votes,
            "unlabelled": study.unlabelled,
            **asdict(options.competence),
            "needed": options.needed,
            "decided": options.decided,
            "sessions": asdict(study.sessions) if study.sessions else None,
        },
        "notes": [asdict(note) for note in study.notes],
        "mean_alpha": {kind: study.mean_alpha(kind) for kind in ALPHA_KINDS},
        "dimensions": [_dimension(dimension) for dimension in study.dimensions],
        "split": {
            "missing": split.missing,
            "left_out": split.left_out,
            "differentiable": _pair_group(split.differentiable),
            "minimally_differentiable": _pair_group(split.minimal),
        },
    }


def _dimension(dimension: DimensionStudy) -> Json:
    learned = dimension.learned
    alphas = {kind: dimension.alpha(kind) for kind in ALPHA_KINDS}
    likelihood = learned.log_likelihood
    return {
        "name": dimension.name,
        "level": dimension.scale.level.value,
        "labels": dict(dimension.counts),
        "labels_given": dimension.scale.given,
        "items": dimension.items,
        "workers": dimension.workers,
        "votes": len(dimension.votes),
        **{f"alpha_{kind}": asdict(alpha) if alpha else None for kind, alpha in alphas.items()},
        "sides": asdict(dimension.sides) if dimension.sides else None,
        "places": asdict(dimension.places) if dimension.places else None,
        "competence": {
            "missing": learned.missing,
            "converged": learned.converged,
            "log_likelihood": None if likelihood is None else {"low": likelihood[0], "high": likelihood[1]},
            "dropped_workers": sum(not worker.kept for worker in learned.workers),
            "items_with_gold": sum(item.gold is not None for item in learned.items),
            "items_with_majority": sum(item.majority is not None for item in learned.items),
        },
    }


def _pair_group(group: PairGroup | None) -> Json | None:
    return None if group is None else {"pairs": len(group.items), "mean_alpha": dict(group.mean_alpha)}
