"""Nuggets an answer does not state, and what is to blame, per system."""

from collections import Counter
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Cause, Importance, Support
from nuggetstream.files.evaluated import LabelRow
from nuggetstream.report.rows import Results

UNKNOWN = "cause not known"
CAUSES = (Cause.GENERATION.value, Cause.RETRIEVAL.value, Cause.UNSOURCED.value, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Misses:
    """One system, for all nuggets or the vital ones.

    Attributes:
        answers: of the system that have at least one label.
        labelled: nuggets with a label for it.
        missed: of those, not stated.
        causes: cause -> misses.
    """

    system: str
    which: str
    answers: int
    labelled: int
    missed: int
    causes: dict[str, int]


@dataclass(frozen=True, slots=True)
class SystemMisses:
    """Every system, most missed per labelled nugget first."""

    systems: int
    rows: tuple[Misses, ...]


def compute(results: Results) -> SystemMisses:
    """Misses per system; a system without a single label has no row."""
    labels: dict[str, list[tuple[str, Importance, LabelRow]]] = {}
    systems = {row.answer(side).system for row in results.rows for side in Side}
    for row in results.rows:
        for nugget in row.nuggets:
            for side, label in ((Side.A, nugget.a), (Side.B, nugget.b)):
                if label is not None:
                    own = labels.setdefault(row.answer(side).system, [])
                    own.append((f"{row.id}:{side}", nugget.importance, label))
    rows = []
    for system, own in labels.items():
        rows.append(_misses(system, "all nuggets", own))
        rows.append(_misses(system, "vital nuggets", [each for each in own if each[1] is Importance.VITAL]))
    rows.sort(key=lambda each: (-each.missed / max(each.labelled, 1), each.system))
    return SystemMisses(len(systems), tuple(rows))


def _misses(system: str, which: str, own: list[tuple[str, Importance, LabelRow]]) -> Misses:
    missed = [label for _, _, label in own if label.support is Support.NOT_SUPPORT]
    counts = Counter(label.cause.value if label.cause else UNKNOWN for label in missed)
    return Misses(
        system=system,
        which=which,
        answers=len({answer for answer, _, _ in own}),
        labelled=len(own),
        missed=len(missed),
        causes={cause: counts[cause] for cause in CAUSES},
    )
