"""A crowd as files: crowd.json, gold.csv and workers.csv."""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nuggetstream.crowd.drawing import KINDS
from nuggetstream.crowd.learning import Item, Worker
from nuggetstream.crowd.notes import notes
from nuggetstream.crowd.study import Dimension, Half, Study, mean_alpha
from nuggetstream.files.writing import write_json, write_table

Json = dict[str, Any]


def write_study(study: Study, out: Path) -> list[Path]:
    """Write crowd.json, gold.csv (a row per dimension and item) and workers.csv; returns the paths.

    Raises:
        OSError: the folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    differentiable = study.halves.differentiable
    apart = frozenset(differentiable.items) if differentiable else frozenset()
    within = apart | frozenset(study.halves.minimal.items if study.halves.minimal else ())
    gold = [
        {"dimension": each.name, **asdict(item), "differentiable": _kind(item.item, apart, within)}
        for each in study.dimensions
        for item in each.learned.items
    ]
    workers = [
        {"dimension": each.name, **asdict(worker), "kept": "yes" if worker.kept else "no"}
        for each in study.dimensions
        for worker in each.learned.workers
    ]
    return [
        write_json(out / "crowd.json", as_json(study)),
        write_table(out / "gold.csv", ("dimension", *_names(Item), "differentiable"), gold),
        write_table(out / "workers.csv", ("dimension", *_names(Worker)), workers),
    ]


def as_json(study: Study) -> Json:
    """Every number but those of single items and workers, as plain JSON values."""
    question, crowd, halves = study.question, study.crowd, study.halves
    return {
        "rests_on": {
            "file": crowd.file,
            "rows": crowd.rows,
            "votes": sum(len(each.votes) for each in study.dimensions),
            "unlabelled": crowd.unlabelled,
            **asdict(question.method),
            "needed": question.needed,
            "decided": question.decided,
            "sessions": asdict(study.sessions) if study.sessions else None,
        },
        "notes": [asdict(note) for note in notes(study)],
        "mean_alpha": {kind: mean_alpha(study.dimensions, kind) for kind in KINDS},
        "dimensions": [_dimension(each) for each in study.dimensions],
        "split": {
            "missing": halves.missing,
            "left_out": halves.left_out,
            "differentiable": _half(halves.differentiable),
            "minimally_differentiable": _half(halves.minimal),
        },
    }


def _dimension(each: Dimension) -> Json:
    learned = each.learned
    ends = learned.log_likelihood
    return {
        "name": each.name,
        "level": each.scale.level.value,
        "labels": dict(each.counts),
        "labels_given": each.scale.given,
        "items": each.items,
        "workers": each.workers,
        "votes": len(each.votes),
        **{f"alpha_{kind}": asdict(found) if (found := getattr(each, kind)) else None for kind in KINDS},
        "sides": asdict(each.sides) if each.sides else None,
        "places": asdict(each.places) if each.places else None,
        "competence": {
            "missing": learned.missing,
            "converged": learned.converged,
            "log_likelihood": None if ends is None else {"low": ends[0], "high": ends[1]},
            "dropped_workers": sum(not worker.kept for worker in learned.workers),
            "items_with_gold": sum(item.gold is not None for item in learned.items),
            "items_with_majority": sum(item.majority is not None for item in learned.items),
        },
    }


def _half(half: Half | None) -> Json | None:
    if half is None:
        return None
    return {"pairs": len(half.items), "mean_alpha": {kind: getattr(half, kind) for kind in KINDS}}


def _kind(item: str, apart: frozenset[str], within: frozenset[str]) -> str | None:
    """Whether an item can be told apart, as text; None outside the split."""
    return ("yes" if item in apart else "no") if item in within else None


def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
