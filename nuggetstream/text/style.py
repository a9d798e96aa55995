"""Style of a Markdown answer in numbers: length, citations and markup."""

import re

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEATURES = ("length", "citations", "headers", "lists", "bold")


def features(answer: str, citations: int) -> Floats:
    """(5,) length in characters, citations, headers, list items and bold passages of a Markdown answer.

    Args:
        answer: Markdown; fenced code has no markup.
        citations: Number of citations, counted by the caller because arenas mark them in different ways.

    Source: Li, Angelopoulos and Chiang, 2024, whose features these are, and citations.

    >>> features("# Title\\n- **one**\\n- two", citations=3).tolist()
    [23.0, 3.0, 1.0, 2.0, 1.0]
    """
    prose = re.sub(r"^```.*?(?:^```|\Z)", "", answer, flags=re.S | re.M)
    counts = (
        len(answer),
        citations,
        len(re.findall(r"^ {0,3}#{1,6}\s", prose, flags=re.M)),
        len(re.findall(r"^\s*(?:[-*+]|\d{1,9}[.)])\s", prose, flags=re.M)),
        len(re.findall(r"(\*\*|__)(?=\S).+?(?<=\S)\1", prose)),
    )
    return np.array(counts, dtype=np.float64)
