"""Style of a Markdown answer in numbers: length, citations and markup."""

import re
from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FENCED = re.compile(r"^```.*?(?:^```|\Z)", re.S | re.M)
_HEADER = re.compile(r"^ {0,3}#{1,6}\s", re.M)
_ITEM = re.compile(r"^[^\S\n]*(?:[-*+]|\d{1,9}[.)])\s", re.M)
_BOLD_START = re.compile(r"(\*\*|__)(?=\S)")
_BOLD_ENDS = {mark: re.compile(rf"(?<=\S)(?={re.escape(mark)})") for mark in ("**", "__")}

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
    prose = _FENCED.sub("", answer)
    counts = (
        len(answer),
        citations,
        sum(1 for _ in _HEADER.finditer(prose)),
        sum(1 for _ in _ITEM.finditer(prose)),
        sum(_bold_passages(line) for line in prose.split("\n") if "**" in line or "__" in line),
    )
    return np.array(counts, dtype=np.float64)


def _bold_passages(line: str) -> int:
    """Number of passages between two bold marks, with no blank inside the marks; linear in the line.

    >>> _bold_passages("**one** and __two__, but ** not ** this"), _bold_passages("**a **b **c")
    (2, 0)
    """
    ends = {mark: [end.start() for end in pattern.finditer(line)] for mark, pattern in _BOLD_ENDS.items()}
    passages = position = 0
    while (start := _BOLD_START.search(line, position)) is not None:
        mark = start[1]
        behind = ends[mark]
        first = bisect_left(behind, start.end() + 1)
        if first == len(behind):
            position = start.start() + 1
            continue
        passages += 1
        position = behind[first] + len(mark)
    return passages
