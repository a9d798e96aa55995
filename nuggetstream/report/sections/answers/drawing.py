"""The answers as texts."""

from collections.abc import Sequence

import plotly.graph_objects as go

from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import BLUE, GREEN, figure, names_axis, rows_height
from nuggetstream.report.section import Content
from nuggetstream.report.sections.answers.numbers import FIRST_WORDS, Answers, Mean, SystemTexts
from nuggetstream.report.wording import FEW_MARK, FEW_NOTE, number, percent, whole
from nuggetstream.statistics.share import FEW

_DASH = "A dash: no answer to measure it on."


def draw(found: Answers) -> Content:
    """Length and closeness to the evidence as bars, everything in a table."""
    blocks: list[Block] = []
    charts = [
        chart
        for chart in (
            _bars("Words per answer", [(each.system, each.words) for each in found.systems], BLUE, ".0f"),
            _bars(
                "Closeness to the evidence",
                [(each.system, each.closeness) for each in found.systems],
                GREEN,
                ".0%",
            ),
        )
        if chart
    ]
    if charts:
        blocks.append(Figures("", {"": tuple(charts)}))
    else:
        blocks.append(State("No answer has a word: there is nothing to measure."))
    blocks += [_table(found.systems), _citations(found.systems)]
    if not any(each.ease.answers for each in found.systems):
        blocks.append(State("No battle is marked as English, and reading ease is a formula for English."))
    if not any(each.closeness.answers for each in found.systems):
        blocks.append(State("No battle has evidence: closeness to it is not measured."))
    return Content(
        finding=_finding(found),
        reading="Nothing here says whether an answer is good. In scripts without spaces every character is "
        "a word. Reading ease is Flesch's: around 60 is plain English, below 30 hard; syllables are counted "
        "by hyphenation, which misses some, so compare answers by it. Closeness: each sentence's highest "
        "ROUGE-L F1 with a sentence of the battle's evidence, 100% for a copy. BLEU: the runs of one to "
        "four words of the answer that stand in a passage, 100 for a copy. Both are overlap of words, not "
        f"checks of facts. Variety: different words among the first {FIRST_WORDS}, so that length does not "
        "matter. Citations are numbers in brackets; position is where they stand, 0% at the start of the "
        "text and 100% at its end. A citation is invalid, and does not count, when no page of the answer "
        "has its number; a dash where numbers are not positions among the pages.",
        basis=f"{whole(sum(each.answers for each in found.systems))} answers of {len(found.systems)} systems",
        blocks=tuple(blocks),
    )


def _finding(found: Answers) -> str:
    known = sorted((each.words.value, each.system) for each in found.systems if each.words.value is not None)
    parts = []
    if len(known) > 1:
        (low, short), (high, long) = known[0], known[-1]
        parts.append(
            f"{long} writes the most words ({number(high, 0)}), {short} the fewest ({number(low, 0)})."
        )
    if found.overlap is not None:
        parts.append(
            f"The two answers of a battle share {percent(found.overlap, 0)} of their words "
            f"(mean Jaccard similarity over {whole(found.compared)} battles)."
        )
    return " ".join(parts)


def _bars(title: str, means: Sequence[tuple[str, Mean]], colour: str, form: str) -> Figure | None:
    known = [(name, mean.value, mean.answers) for name, mean in means if mean.value is not None]
    if not known:
        return None
    bars = go.Bar(
        orientation="h",
        x=[value for _, value, _ in known],
        y=list(range(len(known))),
        marker={"color": colour},
        customdata=[answers for _, _, answers in known],
        hovertemplate=f"%{{x:{form}}}, mean of %{{customdata}} answers<extra></extra>",
    )
    alt = "; ".join(f"{name}: {value:{form}}" for name, value, _ in known)
    layout = {
        "yaxis": names_axis([name for name, _, _ in known]),
        "xaxis": {"title": {"text": "mean per answer"}, "tickformat": form, "rangemode": "tozero"},
    }
    return figure(title, alt, [bars], rows_height(len(known)), layout)


def _table(systems: Sequence[SystemTexts]) -> Table:
    rows = [
        (
            each.system,
            whole(each.answers),
            _mean(each.words, 0),
            number(each.median_words, 0),
            _mean(each.ease, 0),
            _share(each.variety),
            _share(each.closeness),
            _mean(each.bleu, 1),
        )
        for each in systems
    ]
    columns = (
        "system",
        "answers",
        "words",
        "median",
        "reading ease, hyphenated",
        "variety",
        "closeness",
        "BLEU",
    )
    return Table("Per system", columns, rows, f"Means per answer. {_DASH} {FEW_NOTE}")


def _citations(systems: Sequence[SystemTexts]) -> Table:
    rows = [
        (
            each.system,
            _mean(each.citations, 1),
            _mean(each.invalid, 1),
            _mean(each.cited, 1),
            _mean(each.repeats, 2),
            _share(each.position),
            _share(each.in_order),
            _mean(each.named, 1),
        )
        for each in systems
    ]
    columns = (
        "system",
        "citations",
        "invalid",
        "sources cited",
        "times each",
        "position",
        "in order",
        "pages named",
    )
    note = "Means per answer; “times each” and position over the answers that cite, “in order” the share of "
    note += "those citing two sources or more that first name them in ascending order."
    return Table("Citations per system", columns, rows, f"{note} {_DASH} {FEW_NOTE}")


def _mark(mean: Mean) -> str:
    return FEW_MARK if mean.value is not None and mean.answers < FEW else ""


def _mean(mean: Mean, digits: int) -> str:
    return number(mean.value, digits) + _mark(mean)


def _share(mean: Mean) -> str:
    return percent(mean.value, 0) + _mark(mean)
