"""Coverage, time and cost.

How much of what was received could be scored, how long did it take, and what did it cost?
"""

from collections.abc import Sequence

from nuggetstream.figures.charts import BLUE, GREY, curve, figure, names_axis, rows_height, trace
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import MISSING, integer, many, number, part_of, percent
from nuggetstream.report.blocks import Block, Fact, Facts, Figures, Notice, NotMeasured, Table
from nuggetstream.report.numbers.coverage import Coverage, compute_coverage
from nuggetstream.report.numbers.running import Latency, Running, compute_running
from nuggetstream.report.reasons import in_words
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import FEW_NOTE, few_mark

_SHOWN = 20  # flagged passages
_NO_STAGES = NotMeasured(
    "latency per stage", "no battle tells when its steps were recorded; a running platform has it as metrics"
)
_NO_CHARGE = (
    "Nothing was charged: the models used have a price of zero, or their replies came from the cache."
)


def draw_coverage(coverage: Coverage) -> Content:
    """Counts, coverage by source of preference, failures by reason."""
    blocks: list[Block] = [_coverage_facts(coverage), Figures.of(_bars(coverage))]
    if coverage.reasons:
        rows = [(reason, integer(count)) for reason, count in in_words(coverage.reasons).items()]
        note = (
            "A battle can be in several rows. What is missing is left out of the sections below; it never "
            "counts as zero."
        )
        blocks.append(
            Table(
                caption="What is missing, and why",
                columns=("reason", "times"),
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
        sentence = f"{count} the last turn of a conversation."
        blocks.append(Notice(f"{sentence} Models were shown its earlier turns as context."))
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


def _coverage_facts(coverage: Coverage) -> Facts:
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


def _bars(coverage: Coverage) -> Figure:
    parts = {
        "human vote": coverage.with_vote,
        "nugget preference": coverage.with_nuggets,
        "judge's verdict": coverage.with_verdict,
        "scored": coverage.scored,
    }
    rows, counts = list(range(len(parts))), list(parts.values())
    present = trace(
        "bar",
        name="present",
        orientation="h",
        x=counts,
        y=rows,
        marker={"color": BLUE},
        text=[part_of(count, coverage.received) for count in counts],
        textposition="auto",
        hovertemplate="%{x} battles<extra></extra>",
    )
    missing = trace(
        "bar",
        name="missing",
        orientation="h",
        x=[coverage.received - count for count in counts],
        y=rows,
        marker={"color": GREY, "opacity": 0.45},
        hovertemplate="%{x} battles missing<extra></extra>",
    )
    axes = {"yaxis": names_axis(list(parts)), "xaxis": {"title": {"text": "battles received"}}}
    return figure(
        "Coverage",
        alt="; ".join(
            f"{name}: {part_of(count, coverage.received, 'battles')}" for name, count in parts.items()
        ),
        traces=[present, missing],
        height=rows_height(len(parts)),
        layout=axes,
    )


def draw_running(running: Running) -> Content:
    """Latency from arrival to end, and what was paid."""
    blocks: list[Block] = []
    if running.latency:
        blocks += [_running_facts(running.latency, running.received), Figures.of(_chart(running.latency))]
    else:
        why = "no battle tells both when it arrived and when it ended"
        blocks.append(NotMeasured("latency", why))
    if running.out_of_order:
        count = many(running.out_of_order, "battle ends before it arrives", "battles end before they arrive")
        blocks.append(Notice(f"{count}, because a clock was wrong; the latency leaves out such battles."))
    blocks += [
        _stages(running) if running.stages else _NO_STAGES,
        *_costs(running),
    ]
    timed = running.latency.battles if running.latency else 0
    return Content(
        findings=_findings(running.latency),
        reading="Time runs from a battle's arrival to its end. An evaluation works on many battles at "
        "once, so it includes time in queues. It also includes the time in which nothing ran, where an "
        "evaluation was stopped and resumed, because results do not tell when that was. The curve shows "
        "the share of battles that ended within a number of seconds. A stage's time runs from the record "
        "of the step before to the record of its own. The judge runs beside the steps of the nuggets, so "
        "stages add up to more than the whole battle.",
        basis=part_of(timed, running.received, "battles timed"),
        blocks=tuple(blocks),
    )


def _findings(latency: Latency | None) -> tuple[str, ...]:
    if latency is None:
        return ()
    median = number(latency.quantiles[0.5], 1)
    return (f"Half of the battles ended within {median} s of their arrival, with time in queues and stops.",)


def _running_facts(latency: Latency, received: int) -> Facts:
    names = {0.5: "median", 0.95: "95% of battles within", 0.99: "99% of battles within"}
    basis = part_of(latency.battles, received, "battles")
    return Facts(
        tuple(
            Fact(f"{number(seconds, 1)} s", names[level], basis)
            for level, seconds in latency.quantiles.items()
        )
    )


def _chart(latency: Latency) -> Figure:
    ended = curve(
        x=list(latency.seconds),
        y=[(index + 1) / latency.battles for index in range(latency.battles)],
        line={"color": BLUE, "width": 2.5, "shape": "hv"},
        hovertemplate="%{y:.0%} within %{x:.1f} s<extra></extra>",
    )
    median, late = (number(latency.quantiles[level], 1) for level in (0.5, 0.95))
    return figure(
        "Battles ended within a number of seconds",
        alt=f"median {median} s, 95% of battles within {late} s",
        traces=[ended],
        height=320,
        layout={
            "xaxis": {"title": {"text": "seconds from arrival to end"}, "rangemode": "tozero"},
            "yaxis": {"title": {"text": "battles ended"}, "tickformat": ".0%", "range": [0, 1.02]},
        },
    )


def _stages(running: Running) -> Table:
    rows = [
        (
            stage.stage,
            number(stage.median, 2),
            number(stage.late, 2) + few_mark(stage.timed),
            part_of(stage.timed, stage.ended),
        )
        for stage in running.stages
    ]
    if running.latency:
        median, late = (number(running.latency.quantiles[level], 2) for level in (0.5, 0.95))
        timed = part_of(running.latency.battles, running.received)
        rows.append(("whole battle", median, late + few_mark(running.latency.battles), timed))
    return Table(
        caption="Latency per stage",
        columns=("stage", "median, seconds", "95th percentile, seconds", "timed of ended"),
        rows=rows,
        note="A stage is not timed for a battle whose start in it is not recorded, or recorded late. "
        f"{FEW_NOTE}",
    )


def _costs(running: Running) -> list[Block]:
    blocks: list[Block] = []
    if running.costs:
        rows = [
            (
                cost.currency,
                number(cost.total, 4),
                number(cost.mean, 6),
                part_of(cost.battles, running.received),
            )
            for cost in running.costs
        ]
        columns = ("currency", "total", "mean per battle", "battles with a cost")
        note = "" if any(cost.total for cost in running.costs) else _NO_CHARGE
        blocks.append(Table(caption="Cost", columns=columns, rows=rows, note=note))
    else:
        blocks.append(
            NotMeasured("cost", "none is recorded; it is unknown, which does not mean that it was zero")
        )
    if running.models:
        blocks.append(_models(running))
    else:
        blocks.append(NotMeasured("cost per stage and model", "no call is recorded"))
    return blocks


def _models(running: Running) -> Table:
    return Table(
        caption="Cost per stage and model",
        columns=("stage and model", "cost", "calls", "input tokens", "output tokens", "battles with calls"),
        rows=[
            (
                f"{model.stage}, {model.model}",
                MISSING if model.amount is None else f"{number(model.amount, 4)} {model.currency}",
                integer(model.calls),
                integer(model.input_tokens),
                integer(model.output_tokens),
                part_of(model.battles, running.received),
            )
            for model in running.models
        ],
        note="A dash for cost: a call has no known price, so the cost is unknown. A battle that found all "
        "its replies in the cache has no calls.",
    )


SECTION = Section(
    name="running",
    title="Coverage, time and cost",
    question="How much of what was received could be scored, how long did it take, and what did it cost?",
    parts=(Part("coverage", compute_coverage, draw_coverage), Part("running", compute_running, draw_running)),
)
