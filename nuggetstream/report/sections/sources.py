"""The pages behind the answers: could they be read, and did they become evidence?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.battle import Side
from nuggetstream.files.evaluated import SourceRow
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    YELLOW,
    figure,
    names_axis,
    rows_height,
    share_axis,
)
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import of, percent, whole


@dataclass(frozen=True, slots=True)
class SystemSources:
    """One system's pages.

    Attributes:
        answers: of the system.
        without: answers that name no page.
        pages: named over all answers; a page named twice counts twice.
        used: pages with at least one chunk among the evidence.
        qualities: the scraper's class, or the state where there is none -> pages.
    """

    system: str
    answers: int
    without: int
    pages: int
    used: int
    qualities: dict[str, int]


def compute(results: Results) -> tuple[SystemSources, ...]:
    """Per system, in alphabetical order."""
    answers: dict[str, list[tuple[SourceRow, ...]]] = {}
    for row in results.battles:
        for side in Side:
            answers.setdefault(row.answer(side).system, []).append(row.answer(side).sources)
    return tuple(_system(name, answers[name]) for name in sorted(answers))


def _system(name: str, answers: list[tuple[SourceRow, ...]]) -> SystemSources:
    pages = [page for sources in answers for page in sources]
    return SystemSources(
        system=name,
        answers=len(answers),
        without=sum(not sources for sources in answers),
        pages=len(pages),
        used=sum(page.chunks > 0 for page in pages),
        qualities=dict(Counter(page.quality or page.state for page in pages).most_common()),
    )


_USABLE = "ok"
_OTHERS = (ORANGE, YELLOW, PURPLE, SKY, GREEN)  # the most frequent classes; the rest share a colour
_REST = "other"


def draw(found: Sequence[SystemSources]) -> Content:
    """Page qualities per system, and how many pages became evidence."""
    with_pages = [each for each in found if each.pages]
    blocks: list[Block] = []
    if with_pages:
        blocks += [Figures("", {"": (_chart(with_pages),)}), _table(found)]
    else:
        blocks.append(State("No answer names a page, so there is nothing to say about sources."))
    pages = sum(each.pages for each in found)
    return Content(
        finding=_finding(found, pages),
        reading="Each page that an answer searched or cited, by what became of it. “ok” is text that "
        "can be used as evidence; everything else names what stood in the way. Used: at least one passage "
        "was retrieved.",
        basis=f"{whole(pages)} pages, {of(len(with_pages), len(found), 'systems')}",
        blocks=tuple(blocks),
    )


def _finding(found: Sequence[SystemSources], pages: int) -> str:
    if not pages:
        return ""
    usable = sum(each.qualities.get(_USABLE, 0) for each in found)
    used = sum(each.used for each in found)
    share = percent(used / pages)
    return f"{percent(usable / pages)} of {whole(pages)} pages are usable; {share} gave evidence."


def _colours(found: Sequence[SystemSources]) -> dict[str, str]:
    total: Counter[str] = Counter()
    for each in found:
        total.update(each.qualities)
    names = [name for name, _ in total.most_common() if name != _USABLE]
    shown = dict(zip(names, _OTHERS, strict=False))
    rest = {_REST: GREY} if len(names) > len(_OTHERS) else {}
    return {_USABLE: BLUE} | shown | rest


def _chart(found: Sequence[SystemSources]) -> Figure:
    colours = _colours(found)
    traces = []
    for name, colour in colours.items():
        counts = [_count(each, name, colours) for each in found]
        traces.append(
            go.Bar(
                name=name.replace("_", " "),
                orientation="h",
                x=[count / each.pages for count, each in zip(counts, found, strict=True)],
                y=list(range(len(found))),
                marker={"color": colour},
                customdata=[(count, each.pages) for count, each in zip(counts, found, strict=True)],
                hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]} pages)",
            )
        )
    alt = "; ".join(f"{each.system}: {each.qualities}" for each in found)
    layout = {
        "yaxis": names_axis([each.system for each in found]),
        "xaxis": share_axis("share of pages", range=[0, 1]),
        "showlegend": True,
    }
    return figure("What became of the pages", alt, traces, rows_height(len(found)), layout)


def _count(each: SystemSources, name: str, colours: dict[str, str]) -> int:
    if name != _REST:
        return each.qualities.get(name, 0)
    return sum(count for quality, count in each.qualities.items() if quality not in colours)


def _table(found: Sequence[SystemSources]) -> Table:
    rows = [
        (
            each.system,
            whole(each.answers),
            whole(each.without),
            whole(each.pages),
            percent(each.qualities.get(_USABLE, 0) / each.pages if each.pages else None),
            percent(each.used / each.pages if each.pages else None),
            ", ".join(f"{name.replace('_', ' ')} {whole(count)}" for name, count in each.qualities.items()),
        )
        for each in found
    ]
    columns = ("system", "answers", "without a page", "pages", "usable", "used", "all classes")
    return Table("Counts", columns, rows, text_columns=(6,), folded=True)


SECTION = Section(
    name="sources",
    title="Sources",
    question="Could the pages behind the answers be read?",
    compute=compute,
    draw=draw,
)
