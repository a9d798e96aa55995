"""Style: how would people rank the systems if all answers were equally long and equally marked up?"""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.style.drawing import draw
from nuggetstream.report.sections.style.numbers import compute

SECTION = Section(
    name="style",
    title="Style held equal",
    question="How would people rank the systems if all answers were equally long and equally marked up?",
    compute=compute,
    draw=draw,
)
