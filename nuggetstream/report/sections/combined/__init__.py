"""A few human votes and many automatic ones together, and which votes to ask people for next."""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.combined.drawing import draw
from nuggetstream.report.sections.combined.numbers import compute

SECTION = Section(
    name="combined",
    title="Few votes and many verdicts, combined",
    question="Can automatic votes make the human ones go further, and which votes are worth asking for?",
    compute=compute,
    draw=draw,
)
