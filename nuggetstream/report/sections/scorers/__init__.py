"""Scorers: do people, nuggets and the judge measure the same thing, whatever the order of the answers?"""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.scorers.drawing import draw
from nuggetstream.report.sections.scorers.numbers import compute

SECTION = Section(
    name="scorers",
    title="Scorers against each other",
    question="Do people, nuggets and the judge measure the same thing, whatever the order of the answers?",
    compute=compute,
    draw=draw,
)
