"""Scorers: do people, nuggets and the judge measure the same thing, whatever the order of the answers?"""

from nuggetstream.report.section import Part
from nuggetstream.report.sections.scorers.drawing import draw
from nuggetstream.report.sections.scorers.numbers import compute

PART = Part("scorers", compute, draw)
