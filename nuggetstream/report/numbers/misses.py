"""Misses: is the search or the writing to blame for the nuggets that an answer does not state?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.nugget import Cause, Importance, Support
from nuggetstream.files.labelled import LabelRow
from nuggetstream.files.results import Results

UNKNOWN = "cause not known"
CAUSES = (Cause.GENERATION.value, Cause.RETRIEVAL.value, Cause.UNSOURCED.value, UNKNOWN)
ALL, VITAL = "all nuggets", "vital nuggets"


@dataclass(frozen=True, slots=True)
class Misses:
    """One system, for all nuggets or the vital ones.

    Attributes:
        system: Its name.
        which: "all nuggets" or "vital nuggets".
        answers: Answers of the system that have at least one label.
        labelled: Nuggets with a label for one of these answers.
        claims: Of these, nuggets that only an answer states, or that are disputed; nobody misses them.
        missed: Other labelled nuggets that the answer does not state.
        causes: Cause -> misses.
    """

    system: str
    which: str
    answers: int
    labelled: int
    claims: int
    missed: int
    causes: dict[str, int]

    @property
    def facts(self) -> int:
        """The labelled nuggets that an answer can miss, which are all but the claims."""
        return self.labelled - self.claims

    @property
    def rate(self) -> float | None:
        """Share of the facts that are missed; None where there are none."""
        return self.missed / self.facts if self.facts else None


@dataclass(frozen=True, slots=True)
class SystemMisses:
    """Every system, the highest rate of misses first.

    Attributes:
        systems: All systems, those without a label included.
        rows: Two per system that has a label: all nuggets and vital ones.
    """

    systems: int
    rows: tuple[Misses, ...]


@dataclass(frozen=True, slots=True)
class _Labelled:
    answer: str
    importance: Importance
    label: LabelRow
    is_claim: bool


def compute_misses(results: Results) -> SystemMisses:
    """Misses per system; a system without a single label has no row."""
    labels = grouped(
        (
            battle.answer(side).system,
            _Labelled(f"{battle.id}:{side}", nugget.importance, label, nugget.is_unconfirmed),
        )
        for battle in results.battles
        for nugget in battle.nuggets
        for side, label in ((Side.A, nugget.a), (Side.B, nugget.b))
        if label is not None
    )
    rows = []
    for system, own in labels.items():
        vital = [labelled for labelled in own if labelled.importance is Importance.VITAL]
        rows += [_misses(system, ALL, own), _misses(system, VITAL, vital)]
    rows.sort(key=lambda row: (-(row.rate or 0.0), row.system))
    systems = {battle.answer(side).system for battle in results.battles for side in Side}
    return SystemMisses(len(systems), tuple(rows))


def _misses(system: str, which: str, own: Sequence[_Labelled]) -> Misses:
    claims = sum(missing.is_claim for missing in own)
    missed = [
        missing.label
        for missing in own
        if missing.label.support is Support.NOT_SUPPORT and not missing.is_claim
    ]
    counts = Counter(label.cause.value if label.cause else UNKNOWN for label in missed)
    return Misses(
        system=system,
        which=which,
        answers=len({missing.answer for missing in own}),
        labelled=len(own),
        claims=claims,
        missed=len(missed),
        causes={cause: counts[cause] for cause in CAUSES},
    )
