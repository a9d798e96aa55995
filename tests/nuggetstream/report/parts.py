"""The parts of the report by their names."""

from nuggetstream.report.sections import CHAPTERS

PARTS = {part.name: part for chapter in CHAPTERS for part in chapter.parts}
