"""Leaderboards: do people, nuggets and the judge rank the systems alike?"""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.leaderboards.drawing import draw
from nuggetstream.report.sections.leaderboards.numbers import compute

SECTION = Section(
    name="leaderboards",
    title="Leaderboards of three lenses",
    question="Do people, nuggets and the judge rank the systems alike?",
    compute=compute,
    draw=draw,
)
