"""Answers: what kind of text does each system write?"""

from nuggetstream.report.section import Part
from nuggetstream.report.sections.answers.drawing import draw
from nuggetstream.report.sections.answers.numbers import compute

PART = Part("answers", compute, draw)
