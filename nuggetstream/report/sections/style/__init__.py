"""Style: how would people rank the systems if all answers were equally long and equally marked up?"""

from nuggetstream.report.section import Part
from nuggetstream.report.sections.style.drawing import draw
from nuggetstream.report.sections.style.numbers import compute

PART = Part("style", compute, draw)
