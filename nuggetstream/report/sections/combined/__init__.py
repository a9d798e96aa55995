"""Combined: can automatic votes extend the human ones, and which human votes are worth asking for?"""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.combined.drawing import draw
from nuggetstream.report.sections.combined.numbers import compute

SECTION = Section(
    name="combined",
    title="Few human votes and many automatic ones, combined",
    question="Can automatic votes extend the human ones, and which human votes are worth asking for?",
    compute=compute,
    draw=draw,
)
