"""The answers as texts: how long, how readable, how they cite, how close to what was read."""

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
