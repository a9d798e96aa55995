"""Flags: answers that address or imitate whoever evaluates them, and which flagged battles count."""

from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.domain.battle import Side


@dataclass(frozen=True, slots=True)
class Flag:
    """A passage of an answer that seems to be written for whoever evaluates it.

    Attributes:
        side: The answer.
        rule: Name of the rule that found it, such as "addresses_grader".
        start: Position of its first character in the answer.
        end: Position after its last character.
        confidence: How certain the rule is, 0 to 1.
    """

    side: Side
    rule: str
    start: int
    end: int
    confidence: float


class Flagged(StrEnum):
    """Which battles count: all, only those without a flag, or only those with one."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    ONLY = "only"
