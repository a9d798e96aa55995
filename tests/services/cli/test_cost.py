"""The cost an evaluation shows: an unknown price is not a price of nothing."""

import asyncio
from datetime import date
from decimal import Decimal
from io import StringIO
from typing import cast

import pytest
from rich.console import Console

from services.cli.evaluation.meter import Meter
from services.cli.evaluation.run import Evaluation, Progress
from services.cli.wiring.embedded import Embedded
from services.runtime.bus import Bus
from services.runtime.llm.accounting import Entry
from services.runtime.llm.prices import Money, Tokens
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore


def call(cost: Money | None) -> Entry:
    return Entry("b1", "judge", "some-model", date(2026, 1, 1), Tokens(100, 10), cost, "usage")


@pytest.mark.slow
async def test_a_call_without_a_price_makes_the_cost_unknown(record: Database) -> None:
    spent = DatabaseSpendStore(record)

    async def progress() -> tuple[int, Decimal | None]:
        reported: list[Progress] = []
        stop = asyncio.Event()
        stop.set()
        platform = Embedded("", "", {}, record, cast("Bus", None))
        await Evaluation(platform, [], reported.append, stop).run()
        return reported[-1].calls, reported[-1].cost

    assert await progress() == (0, 0)
    await spent.add(call(Money(Decimal("0.25"))))
    assert await progress() == (1, Decimal("0.25"))
    await spent.add(call(None))
    assert await progress() == (2, None)


@pytest.mark.parametrize(
    ("cost", "currency", "shown"),
    [
        (Decimal("0.25"), "USD", "$0.2500"),
        (Decimal("0.25"), "EUR", "0.2500 EUR"),
        (None, "USD", "cost unknown"),
    ],
)
@pytest.mark.parametrize("terminal", [True, False])
def test_progress_shows_the_cost_or_that_it_is_unknown(
    cost: Decimal | None, currency: str, shown: str, terminal: bool
) -> None:
    written = StringIO()
    with Meter(Console(file=written, width=120, force_terminal=terminal), 2) as meter:
        meter.show(Progress(1, 1, 2, cost, currency))
    assert shown in written.getvalue()
    assert ("$" in written.getvalue()) == shown.startswith("$")


def test_a_run_with_nothing_left_to_do_names_no_pace_and_no_cost_of_nothing() -> None:
    written = StringIO()
    with Meter(Console(file=written, width=120), 3) as meter:
        meter.show(Progress(2, 1, 3, Decimal(0), calls=13))
    assert written.getvalue() == "3 of 3 battles, 1 without scores, 13 calls\n"


def test_a_file_has_no_lines_that_say_the_same_within_a_minute() -> None:
    written, now = StringIO(), 0
    with Meter(Console(file=written, width=120), 2, clock=lambda: now) as meter:
        for now in range(0, 131, 5):
            meter.show(Progress(0, 0, 2, None, calls=now // 125))
    assert written.getvalue().splitlines() == [
        "0 of 2 battles, 0 calls, cost unknown",
        "0 of 2 battles, 0 calls, cost unknown",
        "0 of 2 battles, 1 call, cost unknown",
    ]
