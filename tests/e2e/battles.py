"""Battles for tests: small, self-contained, with their sources' texts."""

from typing import Any

_FACTS = (
    "The Moon raises two tidal bulges on the Earth.",
    "Spring tides occur when Sun, Moon and Earth stand in one line.",
    "Neap tides occur when Sun and Moon stand at right angles.",
    "The tidal range depends on the shape of the coast.",
    "Most coasts see two high tides in a little more than a day.",
)


def battle(number: int, **changes: Any) -> dict[str, Any]:
    """One battle; a different pair of systems and a different vote for different numbers."""
    systems = ("atlas", "birch", "cobalt")
    first, second = systems[number % 3], systems[(number + 1) % 3]
    source = {"url": f"https://tides.example/{number}", "text": " ".join(_FACTS)}
    return {
        "id": f"battle-{number:03}",
        "arena": "test",
        "query": f"Why are there tides, and when are they strongest? ({number})",
        "a": {"system": first, "text": " ".join(_FACTS[: 1 + number % 5]), "sources": [source]},
        "b": {"system": second, "text": "Tides come from the sea. " + _FACTS[number % 5]},
        "vote": ("a", "b", "tie", "both_bad")[number % 4],
    } | changes
