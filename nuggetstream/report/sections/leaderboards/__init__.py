"""Leaderboards: do people, nuggets and the judge rank the systems alike?"""

from nuggetstream.report.section import Part
from nuggetstream.report.sections.leaderboards.drawing import draw
from nuggetstream.report.sections.leaderboards.numbers import compute

PART = Part("leaderboards", compute, draw)
