"""Nuggets: what are the scores made of?"""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.nuggets.drawing import draw
from nuggetstream.report.sections.nuggets.numbers import compute

SECTION = Section(
    name="nuggets",
    title="The nuggets",
    question="What are the scores made of?",
    compute=compute,
    draw=draw,
)
