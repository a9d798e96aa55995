"""What a page shows of the numbers: chapters without empty parts, findings on top, what is not measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nuggetstream.report.blocks import NotMeasured
from nuggetstream.report.section import Chapter, Content, Section
from nuggetstream.report.wording import sentence

FINDINGS = 5  # on top of the page


@dataclass(frozen=True, slots=True)
class Arranged:
    """A report as the page shows it.

    Attributes:
        chapters: Chapter and its sections, each with what its parts show; without empty ones.
        findings: Anchor of a section and its first finding; of the first five chapters that have one.
        not_measured: What is not measured -> why.
    """

    chapters: tuple[tuple[Chapter, tuple[tuple[Section, tuple[Content, ...]], ...]], ...]
    findings: tuple[tuple[str, str], ...]
    not_measured: Mapping[str, str]


def arrange(chapters: Sequence[Chapter], numbers: Mapping[str, Any]) -> Arranged:
    """Draw every part of the chapters.

    Args:
        chapters: All chapters, in order.
        numbers: Name of a part -> what it computed.
    """
    shown, findings = [], list[tuple[str, str]]()
    not_measured: dict[str, str] = {}
    for chapter in chapters:
        sections = []
        for section in chapter.sections:
            contents = [part.draw(numbers[part.name]) for part in section.parts]
            blocks = [block for content in contents for block in content.blocks]
            not_measured |= {
                block.what: f"{sentence(block.why).removesuffix('.')}."
                for block in blocks
                if isinstance(block, NotMeasured)
            }
            if kept := tuple(content for content in contents if content.is_shown):
                sections.append((section, kept))
        if sections:
            shown.append((chapter, tuple(sections)))
            findings += _findings(sections)[:1]
    return Arranged(tuple(shown), tuple(findings[:FINDINGS]), not_measured)


def _findings(sections: Sequence[tuple[Section, Sequence[Content]]]) -> list[tuple[str, str]]:
    return [
        (section.name, finding)
        for section, contents in sections
        for content in contents
        for finding in content.findings
    ]
