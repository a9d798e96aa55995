"""Answers: what kind of text does each system write?"""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.answers.drawing import draw
from nuggetstream.report.sections.answers.numbers import compute

SECTION = Section(
    name="answers",
    title="The answers as texts",
    question="What kind of text does each system write?",
    compute=compute,
    draw=draw,
)
