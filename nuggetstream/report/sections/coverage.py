"""Coverage: how much of what was received could be scored, and why not the rest?"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.battle import Side
from nuggetstream.files.evaluated import JudgmentRow
from nuggetstream.files.numerals import integer, many, part_of, percent
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Fact, Facts, Figure, Figures, Notice, Table
from nuggetstream.report.charts import BLUE, GREY, figure, names_axis, rows_height
from nuggetstream.report.section import Content, Part
from nuggetstream.report.summary import failure_counts

_SHOWN = 20  # flagged passages


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the report rests on.

    Attributes:
        file: Name of the file of results.
        received: Battles, those rejected at intake included.
        rejected: Lines rejected at intake.
        scored: Battles with nuggets, labels and a judge's verdict.
        with_vote: Battles with a human vote.
        with_nuggets: Battles with a nugget preference.
        with_verdict: Battles with a judge's verdict.
        reasons: "stage: reason" -> how often; one battle may have several.
        self_battles: Battles of a system with itself; no leaderboard counts them.
        queries: Distinct queries.
        conversations: Battles with turns before their query.
        systems: System -> battles.
        arenas: Arena -> battles.
        detected: Battles whose language was detected, because none was declared.
        languages: Language -> battles, declared or detected; "not given" where there is neither.
        judges: Model of a judge -> battles with a verdict of it.
        flagged: Id of a battle, rule and sentence of each passage of an answer that seems to be written for
            whoever evaluates it.
        first: When the first battle arrived, in ISO 8601; None where no battle says.
        last: When the last battle arrived; None where no battle says.
    """

    file: str
    received: int
    rejected: int
    scored: int
    with_vote: int
    with_nuggets: int
    with_verdict: int
    reasons: Mapping[str, int]
    self_battles: int
    queries: int
    conversations: int
    systems: Mapping[str, int]
    arenas: Mapping[str, int]
    detected: int
    languages: Mapping[str, int]
    judges: Mapping[str, int]
    flagged: tuple[tuple[str, str, str], ...]
    first: str | None
    last: str | None


def compute(results: Results) -> Coverage:
    """Count battles by what they have."""
    battles = results.battles
    moments = sorted(battle.received_at for battle in battles if battle.received_at)
    systems = Counter(
        name for battle in battles for name in dict.fromkeys(battle.answer(side).system for side in Side)
    )
    return Coverage(
        file=results.name,
        received=results.received,
        rejected=results.rejected,
        scored=results.scored,
        with_vote=sum(battle.human_vote is not None for battle in battles),
        with_nuggets=sum(battle.nugget_verdict is not None for battle in battles),
        with_verdict=sum(bool(battle.judgments) for battle in battles),
        reasons=failure_counts(battles, results.rejected),
        self_battles=sum(battle.a.system == battle.b.system for battle in battles),
        queries=len({battle.query for battle in battles}),
        conversations=sum(bool(battle.conversation or battle.a.conversation) for battle in battles),
        systems=dict(systems.most_common()),
        arenas=dict(Counter(battle.arena for battle in battles).most_common()),
        detected=sum(battle.language is None and battle.known_language is not None for battle in battles),
        languages=dict(Counter(battle.known_language or "not given" for battle in battles).most_common()),
        judges=dict(
            Counter(model for battle in battles for model in _models(battle.judgments)).most_common()
        ),
        flagged=tuple((battle.id, flag.rule, flag.sentence) for battle in battles for flag in battle.flags),
        first=moments[0].isoformat() if moments else None,
        last=moments[-1].isoformat() if moments else None,
    )


def draw(coverage: Coverage) -> Content:
    """Counts, coverage by source of preference, failures by reason."""
    blocks: list[Block] = [_facts(coverage), Figures.of(_bars(coverage))]
    if coverage.reasons:
        rows = [(reason, integer(count)) for reason, count in coverage.reasons.items()]
        note = (
            "A battle can fail in more than one stage. What failed is missing from the sections below; "
            "it never counts as zero."
        )
        blocks.append(
            Table(
                caption="Failures by stage and reason",
                columns=("stage: reason", "times"),
                rows=rows,
                note=note,
            )
        )
    else:
        blocks.append(Notice("No stage failed on any battle."))
    if coverage.self_battles:
        count = many(coverage.self_battles, "battle is of a system", "battles are of a system")
        blocks.append(Notice(f"{count} with itself. No leaderboard counts such battles."))
    if coverage.conversations:
        count = many(coverage.conversations, "battle is", "battles are")
        said = f"{count} the last turn of a conversation."
        blocks.append(Notice(f"{said} Models were shown its earlier turns as context."))
    if coverage.flagged:
        blocks.append(_flagged(coverage.flagged))
    missing = coverage.received - coverage.scored
    rest = (
        f"{many(missing, 'battle is', 'battles are')} not, and the sections below leave out what is missing."
        if missing
        else "Nothing is missing."
    )
    scored = part_of(coverage.scored, coverage.received, "battles")
    return Content(
        findings=(f"{scored} received are scored in full.", rest),
        reading="A battle is scored in full when its nuggets are labelled for both answers and a judge has "
        "given a verdict. Each bar shows one source of preference on its own, out of all battles received.",
        basis=scored,
        blocks=tuple(blocks),
    )


def _facts(coverage: Coverage) -> Facts:
    most_frequent = next(iter(coverage.languages), "none")
    received = coverage.received
    facts = [
        Fact(percent(coverage.scored / received, 0), "scored", part_of(coverage.scored, received, "battles")),
        Fact(
            integer(len(coverage.systems)),
            "systems",
            many(coverage.queries, "distinct query", "distinct queries"),
        ),
        Fact(integer(coverage.with_vote), "human votes", part_of(coverage.with_vote, received, "battles")),
        Fact(
            integer(len(coverage.languages)),
            "language" if len(coverage.languages) == 1 else "languages",
            f"most frequent: {most_frequent}"
            + (f"; detected in {integer(coverage.detected)}, not declared" if coverage.detected else ""),
        ),
    ]
    label = "model of the judge" if len(coverage.judges) == 1 else "model of a judge"
    for model, count in coverage.judges.items():
        facts.append(Fact(model, label, part_of(count, received, "battles")))
    return Facts(tuple(facts))


def _flagged(passages: Sequence[tuple[str, str, str]]) -> Table:
    count = many(len({battle for battle, _, _ in passages}), "battle is", "battles are")
    return Table(
        caption=f"{count} flagged: an answer seems to be written for whoever evaluates it",
        columns=("battle", "rule", "sentence"),
        rows=passages[:_SHOWN],
        note="They are evaluated and counted as any other."
        + (f" The first {_SHOWN} of {integer(len(passages))} passages." if len(passages) > _SHOWN else ""),
    )


def _models(judgments: Iterable[JudgmentRow]) -> Iterable[str]:
    """The models of the judges of a battle, each once."""
    return dict.fromkeys(judgment.model for judgment in judgments)


def _bars(coverage: Coverage) -> Figure:
    parts = {
        "human vote": coverage.with_vote,
        "nugget preference": coverage.with_nuggets,
        "judge's verdict": coverage.with_verdict,
        "scored": coverage.scored,
    }
    rows, counts = list(range(len(parts))), list(parts.values())
    present = go.Bar(
        name="present",
        orientation="h",
        x=counts,
        y=rows,
        marker={"color": BLUE},
        text=[part_of(count, coverage.received) for count in counts],
        textposition="auto",
        hovertemplate="%{x} battles<extra></extra>",
    )
    missing = go.Bar(
        name="missing",
        orientation="h",
        x=[coverage.received - count for count in counts],
        y=rows,
        marker={"color": GREY, "opacity": 0.45},
        hovertemplate="%{x} battles missing<extra></extra>",
    )
    alt = "; ".join(
        f"{name}: {part_of(count, coverage.received, 'battles')}" for name, count in parts.items()
    )
    axes = {"yaxis": names_axis(list(parts)), "xaxis": {"title": {"text": "battles received"}}}
    return figure("Coverage", alt, [present, missing], rows_height(len(parts)), axes)


PART = Part("coverage", compute, draw)
