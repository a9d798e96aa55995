"""`nuggetstream rerun`: let a stage evaluate old battles again, over the API, and compare the results."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypedDict

import click

from nuggetstream.client import Client
from nuggetstream.domain.pipeline import MODEL_STAGES, Stage
from nuggetstream.files.numerals import many
from nuggetstream.views.reruns import RerunCost, RerunView
from services.cli.commands.administrator import asking_gateway
from services.runtime.llm.prices import PriceTable, Tokens

_PAUSE_S = 1.0  # between two looks at battles that run
_PATIENCE_S = 300.0  # without a battle that ends, before the command no longer waits


class _Selected(TypedDict):
    arena: str
    since: datetime
    stage: str
    name: str


@click.command("rerun")
@click.option("--arena", required=True, help="Arena of the battles.")
@click.option(
    "--stage", required=True,
    help=f"What runs again: {', '.join(MODEL_STAGES)}, or a declared evaluator; the stages behind it follow.",
)  # fmt: skip
@click.option(
    "--since", required=True, type=click.DateTime(), help="Battles received from this time on (UTC)."
)
@click.option("--model", help="Model to price the estimate for, which the assigner also asks.")
@click.option(
    "--name", help="Name of the rerun, in which each battle runs once; by default --since and --model."
)
@click.option("--rate", type=click.FloatRange(0, 100, min_open=True), default=5.0, show_default=True,
              help="Battles started per second at most.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Start without asking.")
@asking_gateway
def command(
    client: Client,
    arena: str,
    stage: str,
    since: datetime,
    *,
    model: str | None,
    name: str | None,
    rate: float,
    yes: bool,
) -> None:
    """Evaluate battles that have ended again, with the current models, prompts and settings.

    Before it asks for confirmation, it prints what the same stages have cost for these battles so far. Stored
    replies are not paid again. Old results stay recorded, and the newest count. At the end it prints
    how many preferences have changed.

    The command can be interrupted, and continues when it is repeated: in a rerun of one name each battle runs
    once. Battles whose run fails are listed by `nuggetstream failures`, and keep their earlier preferences.
    """
    name = name or " ".join(filter(None, [since.isoformat(), model]))
    selected: _Selected = {"arena": arena, "since": since.replace(tzinfo=UTC), "stage": stage, "name": name}
    labels_with = model if stage == Stage.ASSIGNER else None
    estimated = client.rerun(**selected, dry_run=True)
    click.echo("\n".join(estimate_lines(estimated, model)))
    if not estimated.battles:
        return
    if not yes:
        click.confirm("Start?", abort=True)
    started = _started(client, selected, labels_with, rate)
    click.echo(started)
    for line in comparison_lines(_compared(client, selected)):
        click.echo(line)


def estimate_lines(estimated: RerunView, model: str | None) -> Iterator[str]:
    """What a rerun can cost, by what its stages have cost before, at recorded prices or those of a model."""
    calls = sum(cost.calls for cost in estimated.costs)
    yield f"{many(estimated.battles, 'battle')}, for which these stages made {many(calls, 'call')} before:"
    width = max((len(f"{cost.stage} {cost.model}") for cost in estimated.costs), default=0)
    for cost in estimated.costs:
        named = f"{cost.stage} {cost.model}"
        yield (
            f"  {named:<{width}}  {cost.calls:>8,} calls  {cost.input_tokens:>12,} tokens in  "
            f"{cost.output_tokens:>10,} out  {_amount(cost.amount, cost.currency)}"
        )
    if model is not None:
        yield f"With {model}: {_priced(estimated.costs, model)}"
        return
    amounts: dict[str | None, Decimal] = {}
    for cost in estimated.costs:
        if cost.amount is not None:
            amounts[cost.currency] = amounts.get(cost.currency, Decimal()) + cost.amount
    priced = [_amount(amount, currency) for currency, amount in amounts.items()]
    unknown = ["calls without a known price"] if any(cost.amount is None for cost in estimated.costs) else []
    yield f"At the prices of then: {' and '.join([*priced, *unknown]) or 'nothing'}"


def _priced(costs: Sequence[RerunCost], model: str) -> str:
    from services.cli.wiring.process import read_settings
    from services.runtime.llm.settings import LLMSettings

    path = read_settings(LLMSettings).prices
    prices = PriceTable() if path is None else PriceTable.load(path)
    tokens = Tokens(sum(cost.input_tokens for cost in costs), sum(cost.output_tokens for cost in costs))
    cost = prices.cost(model, tokens)
    if cost is None:
        return "cost unknown; set NUGGETSTREAM_LLM_PRICES to a file with its price"
    return _amount(cost.amount, cost.currency)


def _amount(amount: Decimal | None, currency: str | None) -> str:
    return "price unknown" if amount is None else f"{amount:.4f} {currency}"


def _started(client: Client, selected: _Selected, model: str | None, rate: float) -> str:
    """Start all battles, and say how many."""
    limit, before = max(1, min(100, int(rate))), None
    total = RerunView()
    while True:
        began = time.monotonic()
        part = client.rerun(**selected, model=model, limit=limit, before=before)
        total = _sum(total, part)
        if (before := part.next) is None:
            break
        time.sleep(max(0.0, part.started / rate - (time.monotonic() - began)))
    earlier = total.battles - total.started - total.running - total.left_out
    return (
        f"{total.started:,} started, {earlier:,} were part of {selected['name']!r} before, "
        f"{total.left_out:,} left out (no input, or a list that people edited), "
        f"{total.running:,} had not ended"
    )


def _compared(client: Client, selected: _Selected) -> RerunView:
    """The comparison of all battles once they have ended, or nothing has ended for minutes."""
    total, before, waits = RerunView(), None, True
    while True:
        part = client.compared_rerun(**selected, limit=50, before=before)
        since, running = time.monotonic(), part.running
        while part.running and waits:
            time.sleep(_PAUSE_S)
            part = client.compared_rerun(**selected, limit=50, before=before)
            if part.running < running:
                since, running = time.monotonic(), part.running
            waits = time.monotonic() - since < _PATIENCE_S
        total = _sum(total, part)
        if (before := part.next) is None:
            return total


def _sum(total: RerunView, part: RerunView) -> RerunView:
    counts: dict[str, Any] = {
        name: getattr(total, name) + getattr(part, name)
        for name in ("battles", "started", "running", "failed", "left_out", "sources")
    }
    return RerunView(**counts)


def comparison_lines(compared: RerunView) -> Iterator[str]:
    """How many preferences changed, by source."""
    yield f"{many(compared.battles, 'battle')} in this rerun, {compared.failed:,} failed"
    battles, changed = Counter[str](), Counter[str]()
    for each in compared.sources:
        battles[each.source] += each.battles
        changed[each.source] += each.changed
    for source, count in sorted(battles.items()):
        yield f"  {source}: {changed[source]:,} of {count:,} preferences changed"
    if compared.running:
        yield f"{many(compared.running, 'battle')} still run; repeat the command to compare them, too"
