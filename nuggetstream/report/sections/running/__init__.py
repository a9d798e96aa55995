"""Running: how long did the evaluation take, and what did it cost?"""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.running.drawing import draw
from nuggetstream.report.sections.running.numbers import compute

SECTION = Section(
    name="running",
    title="Running time and cost",
    question="How long did the evaluation take, and what did it cost?",
    compute=compute,
    draw=draw,
)
