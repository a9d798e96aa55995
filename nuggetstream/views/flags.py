"""Flags as JSON: passages of an answer that seem to be written for whoever evaluates it."""

from nuggetstream.domain.battle import Side
from nuggetstream.views.common import View


class FlagView(View):
    """A passage of an answer that seems to be written for whoever evaluates it."""

    side: Side
    rule: str
    """Name of the rule that found it, such as "addresses_grader"."""
    confidence: float
    """How certain the rule is, 0 to 1."""
    start: int
    """Position of its first character in the answer."""
    end: int
    """Position after its last character."""
    sentence: str
    """The sentence around it, at most 300 characters; invisible characters are shown as U+XXXX."""
