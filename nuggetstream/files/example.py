"""A battle as a first example: it needs no network, because the text of its source comes with it."""

from typing import Any

EXAMPLE: dict[str, Any] = {
    "arena": "mine",
    "query": "Why is the sky blue?",
    "vote": "a",
    "a": {
        "system": "x",
        "text": "Air scatters short waves of light more than long ones.",
        "sources": [
            {
                "title": "Rayleigh scattering",
                "text": "Air molecules scatter short waves of light, such as blue, far more than long ones.",
            }
        ],
    },
    "b": {"system": "y", "text": "It reflects the sea."},
}
