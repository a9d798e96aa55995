"""Threshold: how large must a difference of scores be before it means something?"""

from nuggetstream.report.section import Part
from nuggetstream.report.sections.threshold.drawing import draw
from nuggetstream.report.sections.threshold.numbers import compute

PART = Part("threshold", compute, draw)
