"""Combined: can automatic votes extend the human ones, and which human votes are worth asking for?"""

from nuggetstream.report.section import Part
from nuggetstream.report.sections.combined.drawing import draw
from nuggetstream.report.sections.combined.numbers import compute

PART = Part("combined", compute, draw)
