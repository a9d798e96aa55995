"""What each section shows: numbers in, figures, tables and sentences out."""

from services.analysis.report.drawing import (
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
