"""The numbers of each section: pure functions of the results."""

from services.analysis.report.numbers import (
    baselines,
    boards,
    confusion,
    coverage,
    differences,
    inversions,
    judges,
    misses,
    nuggets,
    running,
    sources,
    thresholds,
)

__all__ = [
    "baselines",
    "boards",
    "confusion",
    "coverage",
    "differences",
    "inversions",
    "judges",
    "misses",
    "nuggets",
    "running",
    "sources",
    "thresholds",
]
