"""A figure as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot.

    Attributes:
        title: What it shows.
        spec: Plotly's `data` and `layout`.
        alt: The figure in words, for readers who do not see it.
        height: In CSS pixels.
    """

    title: str
    spec: Mapping[str, Any]
    alt: str
    height: int
