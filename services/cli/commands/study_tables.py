"""Answers and workers of a study as tables that `nuggetstream crowd` and crowd platforms read."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from nuggetstream.files.writing import as_value
from nuggetstream.views.crowd_studies import StudyAnswer, StudyWorker

LABEL_COLUMNS = (
    "item",
    "worker",
    "dimension",
    "label",
    "first",
    "second",
    "shown",
    "position",
    "seconds",
    "justification",
)
WORKER_COLUMNS = (
    "worker",
    "participant",
    "code",
    "begun_at",
    "finished_at",
    "answered",
    "gold",
    "gold_right",
)
_TURNED = {"a": "b", "b": "a"}


def label_rows(answer: StudyAnswer) -> Iterator[dict[str, Any]]:
    """One row per label: `label` is about answers A and B, `shown` about the first and the second one.

    Grades have the answer in the item, as `BATTLE a`, and nothing about the order.
    """
    first, second = answer.system_a, answer.system_b
    if answer.reversed:
        first, second = second, first
    common = {
        "worker": answer.worker,
        "position": answer.position,
        "seconds": round((answer.answered_at - answer.given_at).total_seconds()),
        "justification": answer.justification,
    }
    for name, label in answer.labels.items():
        dimension, _, side = name.partition(" ")
        row = common | {"dimension": dimension, "label": label}
        if side:
            yield row | {"item": f"{answer.battle} {side}"}
        else:
            shown = _TURNED.get(label, label) if answer.reversed else label
            yield row | {"item": answer.battle, "first": first, "second": second, "shown": shown}


def worker_row(worker: StudyWorker) -> dict[str, Any]:
    """The row of a worker."""
    return worker.model_dump(include=set(WORKER_COLUMNS)) | {"worker": worker.id}


def write_rows(file: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV with a header, each as soon as it is there."""
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: as_value(cell) for name, cell in row.items()} for row in rows)
