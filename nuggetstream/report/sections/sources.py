"""Sources and support.

Could the pages behind the answers be read, and do they state what the answers say?
"""

from collections import Counter
from collections.abc import Sequence

from nuggetstream.figures.charts import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    YELLOW,
    share_axis,
    shares_figure,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import integer, many, part_of, percent
from nuggetstream.report.blocks import BattleLink, Block, Figures, NotMeasured, Table
from nuggetstream.report.numbers.sources import SystemSources, compute_sources
from nuggetstream.report.numbers.support import Support, SystemSupport, UnsupportedSentence, compute_support
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import in_words, opening, share_of

_USABLE = "ok"
_OTHERS = (ORANGE, YELLOW, PURPLE, SKY, GREEN)  # for the most frequent classes; the rest share a colour
_REST = "other"


def draw_sources(systems: Sequence[SystemSources]) -> Content:
    """Page qualities per system, and how many pages became evidence."""
    with_pages = [system for system in systems if system.pages]
    blocks: list[Block] = [NotMeasured("sources", "no answer names a page")]
    if with_pages:
        blocks = [Figures.of(_chart(with_pages)), _sources_table(systems)]
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
    rows = {}
    for system in systems:
        counts = Counter[str]()
        for quality, count in system.qualities.items():
            counts[quality if quality in colours else _REST] += count
        rows[system.system] = (counts, system.pages)
    axis = share_axis("share of pages", range=[0, 1])
    return shares_figure("What became of the pages", axis, rows, colours, things=" pages")


def _classes(system: SystemSources) -> str:
    return ", ".join(f"{in_words(name)} {integer(count)}" for name, count in system.qualities.items())


def _sources_table(systems: Sequence[SystemSources]) -> Table:
    return Table(
        caption="Pages per system",
        columns=(
            "system",
            "answers",
            "without a page",
            "pages",
            "usable",
            "used",
            "read in part",
            "all classes",
        ),
        rows=[
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
        ],
        text_columns=(7,),
        folded=True,
    )


def draw_support(support: Support) -> Content:
    """A table per system, and a list of sentences without support."""
    blocks: list[Block] = [
        NotMeasured("support for sentences", "the evaluator citation_support graded no sentence")
    ]
    if support.systems:
        blocks = [_support_table(support.systems)]
    if support.sentences:
        blocks.append(_list(support.sentences))
    checked = sum(system.unsupported.of for system in support.systems)
    missing = sum(system.unsupported.count for system in support.systems)
    return Content(
        findings=(
            f"{integer(missing)} of {many(checked, 'checked sentence')} have no support in their sources.",
        )
        if checked
        else (),
        reading="A sentence is compared with the sources that it cites; with the option `uncited`, one that "
        "cites nothing, or whose citations give no support, is also compared with the source that has the "
        "closest passage. It is supported as far as the best of these says. No support means that these "
        "sources do not state it, not that it is wrong.",
        basis=part_of(sum(system.answers for system in support.systems), support.answers, "answers"),
        blocks=tuple(blocks),
    )


def _support_table(systems: Sequence[SystemSupport]) -> Table:
    return Table(
        caption="Sentences per system",
        columns=("system", "answers", "full support", "partial support", "no support, of checked sentences"),
        rows=[
            (
                system.system,
                integer(system.answers),
                integer(system.full),
                integer(system.partial),
                share_of(system.unsupported),
            )
            for system in systems
        ],
    )


def _list(sentences: Sequence[UnsupportedSentence]) -> Table:
    rows = [
        (BattleLink(sentence.battle, opening(sentence.text)), sentence.battle, sentence.system)
        for sentence in sentences
    ]
    return Table(
        caption=f"Sentences without support: the first {len(rows)}",
        columns=("sentence", "battle", "system"),
        rows=rows,
        text_columns=(1, 2),
        folded=True,
    )


SECTION = Section(
    name="sources",
    title="Sources and support",
    question="Could the pages behind the answers be read, and do they state what the answers say?",
    parts=(Part("sources", compute_sources, draw_sources), Part("support", compute_support, draw_support)),
)
