"""The nuggets.

What are the scores made of?
"""

from collections.abc import Sequence

from nuggetstream.domain.nugget import Support
from nuggetstream.figures.charts import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    figure,
    share_axis,
    shares_figure,
    trace,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import MISSING, integer, many, number, part_of, percent
from nuggetstream.report.blocks import (
    BattleLink,
    Block,
    Fact,
    Facts,
    Figures,
    Notice,
    NotMeasured,
    Table,
)
from nuggetstream.report.numbers.corrections import CorrectedLabel, Corrections
from nuggetstream.report.numbers.grounding import NEAR, Grounding
from nuggetstream.report.numbers.nuggets import LABELS, Nuggets, compute_nuggets
from nuggetstream.report.numbers.spread import Spread
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import opening

WORDS = {
    Support.SUPPORT: "stated",
    Support.PARTIAL_SUPPORT: "stated in part",
    Support.NOT_SUPPORT: "missed",
    Support.CONTRADICTION: "contradicted",
}
_LOOKS = dict(
    zip(
        LABELS,
        (
            *zip((BLUE, SKY, ORANGE, PURPLE), WORDS.values(), strict=True),
            (GREY, "no label"),
        ),
        strict=True,
    )
)


_SPREAD = ("mean", "minimum", "lower quartile", "median", "upper quartile", "maximum")


def corrections_note(corrections: Corrections) -> str:
    """How many labels people set, as a sentence; empty where the model set all."""
    if not corrections.by_people:
        return ""
    verb = "was" if corrections.by_people == 1 else "were"
    return (
        f"{integer(corrections.by_people)} of {many(corrections.labels, 'label')} {verb} set by people, in "
        f"{many(corrections.battles, 'battle')}; they count in place of those of the model."
    )


def corrections_table(labels: Sequence[CorrectedLabel], total: int) -> Table:
    """The labels that people set, with those of the model."""
    rows = [
        (
            BattleLink(label.battle, opening(label.nugget)),
            label.battle,
            label.system,
            WORDS[label.model],
            WORDS[label.label],
            label.author,
            label.reason or "not told",
        )
        for label in labels
    ]
    return Table(
        caption="Labels set by people",
        columns=("nugget", "battle", "system", "the model said", "label", "set by", "reason"),
        rows=rows,
        note=None if len(rows) == total else f"The first {len(rows)} of {integer(total)}.",
        text_columns=(1, 2, 3, 4, 5, 6),
        folded=True,
    )


def draw(nuggets: Nuggets) -> Content:
    """Counts, vital share, labels and diversity."""
    blocks: list[Block] = [NotMeasured("nuggets", "no battle has any")]
    if nuggets.count and nuggets.vital:
        charts = Figures.of(_histogram(nuggets), _labels(nuggets))
        corrected, grounding = _corrected(nuggets.corrected), _grounding(nuggets.grounding)
        blocks = [_facts(nuggets), charts, *corrected, _table(nuggets), *grounding]
    return Content(
        findings=_findings(nuggets),
        reading="A nugget is one fact that belongs in a good answer; a vital nugget must be in it. Each "
        "nugget is labelled once per answer. Diversity is 1 minus the mean Jaccard similarity of any two "
        "nuggets of a battle: near 1 they say different things, near 0 they repeat each other. Cosine "
        "similarity, of how often two nuggets use each term, runs the other way. ROUGE-L recall is the "
        "share of a nugget's words that one sentence of its passages holds in the same order; that is "
        "overlap of words, and does not show that the passage entails the nugget.",
        basis=part_of(nuggets.battles, nuggets.received, "battles with nuggets"),
        blocks=tuple(blocks),
    )


def _findings(nuggets: Nuggets) -> tuple[str, ...]:
    if not nuggets.count or not nuggets.vital:
        return ()
    count = number(nuggets.count.mean, 1)
    mean = f"A battle has {count} nuggets on average, {percent(nuggets.vital.mean, 0)} of them vital."
    if nuggets.count.low == nuggets.count.high:
        return mean, "Every battle has the same number, as when a limit cuts the list."
    return (mean,)


def _facts(nuggets: Nuggets) -> Facts:
    with_nuggets = part_of(nuggets.battles, nuggets.received, "battles")
    facts = [Fact(integer(nuggets.total), "nuggets", with_nuggets)]
    if nuggets.count:
        facts.append(Fact(number(nuggets.count.median, 0), "per battle (median)", with_nuggets))
    if nuggets.vital:
        facts.append(Fact(percent(nuggets.vital.mean, 0), "vital (mean)", with_nuggets))
    if nuggets.diversity:
        basis = part_of(nuggets.diversity.cases, nuggets.received, "battles")
        facts.append(Fact(number(nuggets.diversity.mean, 2), "diversity (mean)", basis))
    return Facts(tuple(facts))


def _corrected(corrections: Corrections) -> list[Block]:
    """The labels that people set; nothing where the model set all."""
    if not corrections.by_people:
        return []
    return [
        Notice(corrections_note(corrections)),
        corrections_table(corrections.first, corrections.by_people),
    ]


def _histogram(nuggets: Nuggets) -> Figure:
    bars = trace(
        "bar",
        x=list(nuggets.histogram),
        y=list(nuggets.histogram.values()),
        marker={"color": BLUE},
        hovertemplate="%{y} battles with %{x} nuggets<extra></extra>",
    )
    low, high = min(nuggets.histogram), max(nuggets.histogram)
    return figure(
        "Nuggets per battle",
        alt="; ".join(
            f"{many(count, 'nugget')}: {many(battles, 'battle')}"
            for count, battles in nuggets.histogram.items()
        ),
        traces=[bars],
        height=300,
        layout={
            "xaxis": {
                "title": {"text": "nuggets per battle"},
                "range": [low - 3.5, high + 3.5],
                "tickformat": "d",
            },
            "yaxis": {"title": {"text": "battles"}},
        },
    )


def _labels(nuggets: Nuggets) -> Figure:
    rows = {
        name: ({words: labels[key] for key, (_, words) in _LOOKS.items()}, total)
        for name, labels in nuggets.labels.items()
        if (total := sum(labels.values()))
    }
    colours = {words: colour for colour, words in _LOOKS.values()}
    axis = share_axis("share of labels")
    return shares_figure("How often answers state them", axis, rows, colours, things=" labels", height=300)


def _label_counts(nuggets: Nuggets) -> str:
    counts = {
        name: ", ".join(f"{words} {integer(labels[key])}" for key, (_, words) in _LOOKS.items())
        for name, labels in nuggets.labels.items()
    }
    return "; ".join(f"{name} nuggets: {text}" for name, text in counts.items())


def _table(nuggets: Nuggets) -> Table:
    return Table(
        caption="Distribution over battles",
        columns=("per battle", *_SPREAD, "battles"),
        rows=[
            _spread("nuggets per battle", nuggets.count, nuggets.received, 1),
            _spread("vital share", nuggets.vital, nuggets.received, 2),
            _spread("diversity (Jaccard)", nuggets.diversity, nuggets.received, 2),
            _spread("mean cosine similarity", nuggets.cosine, nuggets.received, 2),
        ],
        note=f"Labels of {_label_counts(nuggets)}.",
        folded=True,
    )


def _spread(name: str, spread: Spread | None, received: int, digits: int) -> tuple[str, ...]:
    if spread is None:
        return (name, *([MISSING] * 6), part_of(0, received))
    values = (spread.mean, spread.low, spread.quarter, spread.median, spread.three_quarters, spread.high)
    return (name, *(number(value, digits) for value in values), part_of(spread.cases, received))


def _grounding(grounding: Grounding) -> list[Block]:
    """Nuggets against the passages they name, and what was measured of entailment."""
    origins = (
        f"{part_of(grounding.from_passages, grounding.nuggets, 'nuggets')} name a passage of the evidence, "
        f"{integer(grounding.from_answers)} name answers only, and {integer(grounding.unnamed)} name nothing "
        "that is in these results."
    )
    rows = [
        _spread(name, measured, grounding.nuggets, 2)
        for name, measured in (
            ("ROUGE-L recall by their passages", grounding.recall),
            ("probability of entailment", grounding.entailment),
        )
        if measured
    ]
    groundings = grounding.groundings
    if groundings:
        listed = ", ".join(f"{integer(count)} {kind}" for kind, count in groundings.items())
        basis = part_of(sum(groundings.values()), grounding.nuggets, "nuggets")
        origins = f"{basis} have a known grounding: {listed}. {origins}"
    blocks: list[Block] = [Notice(f"Nuggets and their passages cannot be compared. {origins}")]
    if rows:
        columns = ("per nugget", *_SPREAD, "nuggets")
        note = origins
        if grounding.recall:
            near = part_of(grounding.near, grounding.recall.cases, "nuggets")
            note += f" One sentence holds nearly all words of {near} (recall of at least {NEAR})."
        blocks = [Table(caption="Nuggets and their passages", columns=columns, rows=rows, note=note)]
    if grounding.judged:
        graded = sum(grounding.judged.values())
        listed = ", ".join(f"{part_of(count, graded)} {label}" for label, count in grounding.judged.items())
        blocks.append(
            Notice(f"Nuggets by their passages, as the evaluator nugget_entailment grades: {listed}.")
        )
    elif grounding.entailment is None:
        blocks.append(NotMeasured("entailment of nuggets", "the evaluator nugget_entailment did not run"))
    return blocks


SECTION = Section(
    name="nuggets",
    title="The nuggets",
    question="What are the scores made of?",
    parts=(Part("nuggets", compute_nuggets, draw),),
)
