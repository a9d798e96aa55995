"""Running: how long did the evaluation take, and what did it cost?"""

from nuggetstream.report.section import Part
from nuggetstream.report.sections.running.drawing import draw
from nuggetstream.report.sections.running.numbers import compute

PART = Part("running", compute, draw)
