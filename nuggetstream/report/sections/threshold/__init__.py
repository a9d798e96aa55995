"""Threshold: how large must a difference of scores be before it means something?"""

from nuggetstream.report.section import Section
from nuggetstream.report.sections.threshold.drawing import draw
from nuggetstream.report.sections.threshold.numbers import compute

SECTION = Section(
    name="threshold",
    title="The tie threshold",
    question="How large must a difference of scores be before it means something?",
    compute=compute,
    draw=draw,
)
