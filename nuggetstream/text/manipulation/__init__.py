"""Passages of an answer that are written for whoever evaluates it, and not for the person who asked.

text  ->  what a reader sees (`normalised`)  ->  rules (`rules`)  ->  findings (`detection`)
"""

from nuggetstream.text.manipulation.detection import FLAGGED_FROM, Finding, findings, flagged
from nuggetstream.text.manipulation.flags import flags_of

__all__ = ["FLAGGED_FROM", "Finding", "findings", "flagged", "flags_of"]
