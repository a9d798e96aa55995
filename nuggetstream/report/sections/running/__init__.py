"""What the evaluation took: time and money."""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.running.drawing import draw
from nuggetstream.report.sections.running.numbers import compute

SECTION = Section(
    name="running",
    title="Running time and cost",
    question="What did it take?",
    compute=compute,
    draw=draw,
)
