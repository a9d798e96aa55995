"""Graded passages as a file holds them, small enough to work out by hand.

Two queries with two questions each. From grade 3 on, `reef` covers all of the first query in its top two and
`kelp` half of it; nobody answers the second question about rivers.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def passage(
    name: str,
    grades: Mapping[str, object],
    judgment: int | None = None,
    ranks: Mapping[str, object] | None = None,
    text: str = "",
) -> Json:
    """One passage of a line."""
    return {
        "paragraph_id": name,
        "text": text,
        "paragraph_data": {
            "judgments": [] if judgment is None else [{"relevance": judgment}],
            "rankings": [{"method": run, "rank": rank} for run, rank in (ranks or {}).items()],
        },
        "exam_grades": [
            {"self_ratings": [{"question_id": item, "self_rating": grade} for item, grade in grades.items()]}
        ],
    }


def tides() -> list[Json]:
    return [
        passage("p1", {"t/moon": 5, "t/sun": 0}, 3, {"reef": 1, "kelp": 2}, "The moon pulls the sea."),
        passage("p2", {"t/moon": 3, "t/sun": 4}, 2, {"reef": 2}, "Sun and moon pull together."),
        passage("p3", {"t/moon": 4, "t/sun": 0}, 0, {"kelp": 1}, "A brand of soap."),
    ]


def rivers() -> list[Json]:
    return [
        passage("p4", {"r/source": 4, "r/delta": 0}, 2, {"reef": 1, "kelp": 1}, "Rivers rise in springs."),
        passage("p5", {"r/source": 0, "r/delta": 1}, 2, {"kelp": 2}, "Some rivers are old."),
    ]


def graded_file(folder: Path, lines: Mapping[str, Sequence[Json]] | None = None) -> Path:
    """A graded file of the given queries; without any, of both above."""
    lines = {"tides": tides(), "rivers": rivers()} if lines is None else lines
    path = folder / "graded.jsonl"
    text = "".join(json.dumps([query, list(passages)]) + "\n" for query, passages in lines.items())
    path.write_text(text, encoding="utf-8")
    return path
