"""F1 to F3: nugget preference against human votes.

Source: Sharifymoghaddam et al., "Search Arena Meets Nuggets", 2025 (arXiv:2504.20006).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nuggetstream.fidelity.row import Basis, MakeRows, Row, equal, near
from nuggetstream.statistics.agreement import weighted_kappa
from nuggetstream.statistics.inversions import inversions
from nuggetstream.statistics.ranks import kendall, spearman

_PUBLISHED_INVERSIONS = {"english": 17, "german": 20}
_PUBLISHED_CORRELATIONS = {"nugget": (0.71, 0.88), "judge": (0.64, 0.79)}


def kappa(data: Path) -> Iterator[Row]:
    """F1: weighted kappa of human and nugget preference."""
    confusion = _confusion(_published(data)["confusion_all_score_threshold_0.07"]["rows_human_preference"])
    without_both_bad = confusion[:3]
    ours = weighted_kappa(without_both_bad)
    yield near("F1", "weighted kappa, human and nugget", 0.30, ours, basis=Basis.PRINTED, tolerance=0.005)


def inversion_shares(data: Path) -> Iterator[Row]:
    """F2: percentage of votes that the nuggets invert, by language."""
    published = _published(data)
    for language, percent in _PUBLISHED_INVERSIONS.items():
        share = inversions(_confusion(published[f"confusion_{language}"])).share
        ours = None if share is None else round(100 * share)
        yield equal("F2", f"inversions in {language}, percent", percent, ours, basis=Basis.PRINTED)


def leaderboards(data: Path) -> Iterator[Row]:
    """F3: rank correlations of the leaderboards."""
    boards = _published(data)["leaderboards_bradley_terry"]
    for lens, (tau, rho) in _PUBLISHED_CORRELATIONS.items():
        by_rank = (boards["human_rank"], boards[f"{lens}_rank"])
        correlations = (("tau", tau, kendall(*by_rank)), ("rho", rho, spearman(*by_rank)))
        for name, reference, correlation in correlations:
            yield near(
                "F3",
                f"{name} of leaderboards, {lens} and human",
                reference,
                correlation.coefficient if correlation else None,
                basis=Basis.PRINTED,
                tolerance=0.005,
            )


ROWS: Mapping[str, MakeRows] = {"F1": kappa, "F2": inversion_shares, "F3": leaderboards}


def _published(data: Path) -> dict[str, Any]:
    path = data / "search_arena_nuggets" / "published.json"
    published: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return published


def _confusion(rows: Mapping[str, Any]) -> NDArray[np.float64]:
    return np.array([rows[row] for row in ("model_a", "tie", "model_b", "tie_bothbad")], dtype=float)
