"""Answers as texts.

What kind of text does each system write?
"""

from collections.abc import Sequence

from nuggetstream.figures.charts import BLUE, GREEN, figure, names_axis, rows_height, trace
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import integer, many, number, percent
from nuggetstream.report.blocks import Block, Figures, NotMeasured, Table
from nuggetstream.report.numbers.answers import FIRST_WORDS, Answers, Mean, SystemTexts, compute_answers
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import FEW_NOTE, few_mark

_DASH = "A dash: there is no answer to measure it on."


def draw(answers: Answers) -> Content:
    """Length and closeness to the evidence as bars, everything in a table."""
    systems = answers.systems
    charts = (
        _bars("Words per answer", [(system.system, system.words) for system in systems], BLUE, ".0f"),
        _bars(
            "Closeness to the evidence",
            [(system.system, system.closeness) for system in systems],
            GREEN,
            ".0%",
        ),
    )
    drawn = [chart for chart in charts if chart]
    blocks: list[Block] = [
        Figures.of(*drawn) if drawn else NotMeasured("length of the answers", "no answer has a word")
    ]
    blocks += [_table(systems), _citations(systems)]
    if not any(system.ease.answers for system in systems):
        blocks.append(NotMeasured("reading ease", "its formula is for English, and no battle is in English"))
    if not any(system.closeness.answers for system in systems):
        blocks.append(NotMeasured("closeness to the evidence", "no battle has evidence"))
    total = many(sum(system.answers for system in systems), "answer")
    return Content(
        findings=_findings(answers),
        reading="Nothing here says whether an answer is good. In scripts without spaces every character is "
        "a word. Reading ease is Flesch's: around 60 is plain English, below 30 hard; syllables are "
        "counted by hyphenation, which misses some, so compare answers by it. Closeness: each sentence's "
        "highest ROUGE-L F1 with a sentence of the battle's evidence, 100% for a copy. BLEU: the runs of "
        "one to four words of the answer that stand in a passage, 100 for a copy. Both measure overlap of "
        f"words; neither checks facts. Variety: different words among the first {FIRST_WORDS}, so that "
        "length does not matter. Citations are numbers in brackets; their position runs from 0% at the "
        "start of the text to 100% at its end. A citation is invalid, and does not count, when no page of "
        "the answer has its number; a dash where numbers are not positions among the pages.",
        basis=f"{total} of {many(len(systems), 'system')}",
        blocks=tuple(blocks),
    )


def _findings(answers: Answers) -> tuple[str, ...]:
    lengths = {system.system: number(system.words.value, 0) for system in answers.systems}
    parts = []
    if answers.longest is not None:
        longest, shortest = answers.longest
        parts.append(
            f"{longest} writes the longest answers ({lengths[longest]} words on average), {shortest} the "
            f"shortest ({lengths[shortest]})."
        )
    if answers.overlap is not None:
        parts.append(
            f"The two answers of a battle share {percent(answers.overlap, 0)} of their words "
            f"(mean Jaccard similarity over {many(answers.compared, 'battle')})."
        )
    return tuple(parts)


def _bars(title: str, means: Sequence[tuple[str, Mean]], colour: str, form: str) -> Figure | None:
    measured = [(name, mean.value, mean.answers) for name, mean in means if mean.value is not None]
    if not measured:
        return None
    bars = trace(
        "bar",
        orientation="h",
        x=[value for _, value, _ in measured],
        y=list(range(len(measured))),
        marker={"color": colour},
        customdata=[answers for _, _, answers in measured],
        hovertemplate=f"%{{x:{form}}}, mean of %{{customdata}} answers<extra></extra>",
    )
    return figure(
        title,
        alt="; ".join(f"{name}: {value:{form}}" for name, value, _ in measured),
        traces=[bars],
        height=rows_height(len(measured)),
        layout={
            "yaxis": names_axis([name for name, _, _ in measured]),
            "xaxis": {"title": {"text": "mean per answer"}, "tickformat": form, "rangemode": "tozero"},
        },
    )


def _table(systems: Sequence[SystemTexts]) -> Table:
    return Table(
        caption="Texts per system",
        columns=(
            "system",
            "answers",
            "words",
            "words, median",
            "reading ease, hyphenated",
            "variety",
            "closeness",
            "BLEU",
        ),
        rows=[
            (
                system.system,
                integer(system.answers),
                _mean(system.words, 0),
                number(system.median_words, 0),
                _mean(system.ease, 0),
                _percent(system.variety),
                _percent(system.closeness),
                _mean(system.bleu, 1),
            )
            for system in systems
        ],
        note=f"Means per answer. {_DASH} {FEW_NOTE}",
    )


def _citations(systems: Sequence[SystemTexts]) -> Table:
    note = (
        "Means per answer; “citations per source” and “position” over the answers that cite. “In order” is "
        "the share of answers that first name their sources in ascending order, of those that cite at "
        "least two."
    )
    return Table(
        caption="Citations per system",
        columns=(
            "system",
            "citations",
            "invalid",
            "sources cited",
            "citations per source",
            "position",
            "in order",
            "pages named",
        ),
        rows=[
            (
                system.system,
                _mean(system.citations, 1),
                _mean(system.invalid, 1),
                _mean(system.cited, 1),
                _mean(system.repeats, 2),
                _percent(system.position),
                _percent(system.in_order),
                _mean(system.named, 1),
            )
            for system in systems
        ],
        note=f"{note} {_DASH} {FEW_NOTE}",
    )


def _mean(mean: Mean, digits: int) -> str:
    return number(mean.value, digits) + few_mark(mean.answers)


def _percent(mean: Mean) -> str:
    return percent(mean.value, 0) + few_mark(mean.answers)


SECTION = Section(
    name="answers",
    title="Answers as texts",
    question="What kind of text does each system write?",
    parts=(Part("answers", compute_answers, draw),),
)
