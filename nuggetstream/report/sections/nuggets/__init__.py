"""Nuggets: what are the scores made of?"""

from nuggetstream.report.section import Part
from nuggetstream.report.sections.nuggets.drawing import draw
from nuggetstream.report.sections.nuggets.numbers import compute

PART = Part("nuggets", compute, draw)
