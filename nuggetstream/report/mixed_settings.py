"""Battles that were evaluated with different settings, which no comparison of systems may leave unsaid."""

from collections import Counter
from collections.abc import Iterable, Mapping

from nuggetstream.files.evaluated import BattleRow

Settings = frozenset[tuple[str, str]]
_UNKNOWN, _OTHERS = "unknown settings", "no other settings"


def settings_in(battle: BattleRow) -> Settings:
    """The settings that a battle was evaluated with, by name; empty where they are not known."""
    return frozenset(battle.settings.items())


def mixed_settings(counts: Mapping[Settings, int]) -> dict[str, int]:
    """Number of battles by the settings in which they differ; empty where all have the same ones.

    Args:
        counts: Number of battles by their settings.

    >>> live, paper = (frozenset({("profile", name), ("model", "m")}) for name in ("live", "paper"))
    >>> mixed_settings({live: 3, paper: 1}), mixed_settings({live: 4})
    ({'profile=live': 3, 'profile=paper': 1}, {})
    """
    if len(counts) < 2:
        return {}
    shared = frozenset.intersection(*filter(None, counts))
    mixed: Counter[str] = Counter()
    for settings, battles in counts.items():
        own = ", ".join(f"{name}={value or 'none'}" for name, value in sorted(settings - shared))
        mixed[own or (_OTHERS if settings else _UNKNOWN)] += battles
    return dict(mixed.most_common())


def mixture(mixed: Mapping[str, int]) -> str | None:
    """A sentence on mixed settings; None where there is one set of settings."""
    if not mixed:
        return None
    parts = "; ".join(f"{battles:,} with {settings}" for settings, battles in mixed.items())
    return f"These battles were not evaluated alike, so that systems may differ by that alone: {parts}."


def mixture_of(battles: Iterable[BattleRow]) -> str | None:
    """A sentence on mixed settings of battles; None where there is one set of settings."""
    return mixture(mixed_settings(Counter(map(settings_in, battles))))
