"""Sources: could the pages behind the answers be read?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.battle import Side
from nuggetstream.files.evaluated import SourceRow
from nuggetstream.files.numerals import integer, many, part_of, percent
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, NotMeasured, Table
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
from nuggetstream.report.section import Content, Part

_USABLE = "ok"
_OTHERS = (ORANGE, YELLOW, PURPLE, SKY, GREEN)  # for the most frequent classes; the rest share a colour
_REST = "other"


@dataclass(frozen=True, slots=True)
class SystemSources:
    """One system's pages.

    Attributes:
        system: Its name.
        answers: Its answers.
        without: Answers that name no page.
        pages: Pages named over all answers; a page named twice counts twice.
        used: Pages with at least one chunk in the evidence.
        partly_read: Those with a chunk of which the embedding model read only a part.
        qualities: The scraper's class, or the state where there is none -> pages.
    """

    system: str
    answers: int
    without: int
    pages: int
    used: int
    partly_read: int
    qualities: dict[str, int]


def compute(results: Results) -> tuple[SystemSources, ...]:
    """Per system, in alphabetical order."""
    answers: dict[str, list[tuple[SourceRow, ...]]] = {}
    for battle in results.battles:
        for side in Side:
            answer = battle.answer(side)
            answers.setdefault(answer.system, []).append(answer.sources)
    return tuple(_sources(system, answers[system]) for system in sorted(answers))


def _sources(system: str, answers: Sequence[tuple[SourceRow, ...]]) -> SystemSources:
    pages = [page for sources in answers for page in sources]
    return SystemSources(
        system=system,
        answers=len(answers),
        without=sum(not sources for sources in answers),
        pages=len(pages),
        used=sum(page.chunks > 0 for page in pages),
        partly_read=sum(page.partly_read > 0 for page in pages),
        qualities=dict(Counter(page.quality or page.state for page in pages).most_common()),
    )


def draw(systems: Sequence[SystemSources]) -> Content:
    """Page qualities per system, and how many pages became evidence."""
    with_pages = [system for system in systems if system.pages]
    blocks: list[Block] = [NotMeasured("sources", "no answer names a page")]
    if with_pages:
        blocks = [Figures.of(_chart(with_pages)), _table(systems)]
    pages = sum(system.pages for system in systems)
    return Content(
        findings=_findings(systems, pages),
        reading="Each page that an answer searched or cited, by what became of it. “ok” means that its "
        "text can be used as evidence; every other class names the obstacle. A page is used when at least "
        "one of its passages was retrieved, and read in part when the embedding model read only the "
        "beginning of such a passage.",
        basis=f"{many(pages, 'page')}, {part_of(len(with_pages), len(systems), 'systems')}",
        blocks=tuple(blocks),
    )


def _findings(systems: Sequence[SystemSources], pages: int) -> tuple[str, ...]:
    if not pages:
        return ()
    usable = sum(system.qualities.get(_USABLE, 0) for system in systems)
    used = sum(system.used for system in systems)
    return (
        f"Of {many(pages, 'page')}, {percent(usable / pages)} have usable text, and "
        f"{percent(used / pages)} gave evidence.",
    )


def _colours(systems: Sequence[SystemSources]) -> dict[str, str]:
    total: Counter[str] = Counter()
    for system in systems:
        total.update(system.qualities)
    names = [name for name, _ in total.most_common() if name != _USABLE]
    shown = dict(zip(names, _OTHERS, strict=False))
    rest = {_REST: GREY} if len(names) > len(_OTHERS) else {}
    return {_USABLE: BLUE} | shown | rest


def _chart(systems: Sequence[SystemSources]) -> Figure:
    colours = _colours(systems)
    traces = []
    for name, colour in colours.items():
        counts = [_count(system, name, colours) for system in systems]
        traces.append(
            go.Bar(
                name=_in_words(name),
                orientation="h",
                x=[count / system.pages for count, system in zip(counts, systems, strict=True)],
                y=list(range(len(systems))),
                marker={"color": colour},
                customdata=[(count, system.pages) for count, system in zip(counts, systems, strict=True)],
                hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]} pages)",
            )
        )
    alt = "; ".join(f"{system.system}: {_classes(system)}" for system in systems)
    layout = {
        "yaxis": names_axis([system.system for system in systems]),
        "xaxis": share_axis("share of pages", range=[0, 1]),
        "showlegend": True,
    }
    return figure("What became of the pages", alt, traces, rows_height(len(systems)), layout)


def _count(system: SystemSources, name: str, colours: dict[str, str]) -> int:
    if name != _REST:
        return system.qualities.get(name, 0)
    return sum(count for quality, count in system.qualities.items() if quality not in colours)


def _in_words(name: str) -> str:
    return name.replace("_", " ")


def _classes(system: SystemSources) -> str:
    return ", ".join(f"{_in_words(name)} {integer(count)}" for name, count in system.qualities.items())


def _table(systems: Sequence[SystemSources]) -> Table:
    rows = [
        (
            system.system,
            integer(system.answers),
            integer(system.without),
            integer(system.pages),
            percent(system.qualities.get(_USABLE, 0) / system.pages if system.pages else None),
            percent(system.used / system.pages if system.pages else None),
            integer(system.partly_read),
            _classes(system),
        )
        for system in systems
    ]
    columns = (
        "system", "answers", "without a page", "pages", "usable", "used", "read in part", "all classes",
    )  # fmt: skip
    return Table(caption="Pages per system", columns=columns, rows=rows, text_columns=(7,), folded=True)


PART = Part("sources", compute, draw)
