"""A fallback endpoint: asked while the first is away, and for nothing else."""

from decimal import Decimal

import pytest

from services.runtime.errors import ModelOutage, Permanent
from services.runtime.llm.accounting import Ledger
from services.runtime.llm.call_log import CallLog
from services.runtime.llm.cause import Cause
from services.runtime.llm.prices import Price, PriceTable
from tests.circuits import open_circuits
from tests.integration.llm.conftest import GOOD, Connect, Scripted, assignment, refused, said
from tests.integration.llm.test_call_log import Kept

PRICES = PriceTable(
    {name: Price(input=Decimal(n), output=Decimal(n)) for n, name in ((1, "scripted"), (2, "fallback"))}
)


async def test_the_fallback_answers_while_the_first_is_away_and_is_booked_as_itself(connect: Connect) -> None:
    first, second = Scripted([refused(401), refused(401), said(GOOD)]), Scripted([said(GOOD)])
    store = Kept()
    store.there.set()
    ask = connect(first, fallback=second, ledger=Ledger(PRICES), log=CallLog(store))
    ask.model.circuit._clock = lambda: 1_000.0  # a probe is made when the test says so
    reply = await ask(assignment("One."))
    assert reply.usage.cost is not None
    assert reply.usage.cost.amount == Decimal("0.00022")  # of the fallback: 110 tokens
    assert (len(first.requests), second.requests[0]["model"]) == (1, "fallback-1")
    away = ask.model.first_away()
    assert away is not None
    assert (away.cause, away.fallback_answers) == (Cause.KEY, True)
    assert open_circuits("scripted-1", "key", "first") == 1
    await ask(assignment("Two."))
    assert (len(first.requests), len(second.requests)) == (1, 2)  # not even a probe yet
    ask.model.circuit._open.next_probe = 0.0
    await ask(assignment("Three."))  # the probe fails, and the same call goes to the fallback
    assert (len(first.requests), len(second.requests)) == (2, 3)
    ask.model.circuit._open.next_probe = 0.0
    await ask(assignment("Four."))
    await ask(assignment("Five."))
    assert (len(first.requests), len(second.requests)) == (4, 3)
    assert open_circuits("scripted-1", "key", "first") == 0
    assert ask.model.first_away() is None
    await ask.model.close()
    assert [(call.endpoint, call.model, call.outcome.value) for call in store.calls[:2]] == [
        ("scripted.invalid", "scripted-1", "failed"),
        ("fallback.invalid", "fallback-1", "answered"),
    ]
    assert [call.endpoint for call in store.calls[-2:]] == ["scripted.invalid"] * 2


async def test_a_fault_that_passes_leads_to_no_fallback(connect: Connect) -> None:
    first, second = Scripted([refused(500), refused(429), said(GOOD)]), Scripted([said(GOOD)])
    await connect(first, fallback=second)()
    assert (len(first.requests), len(second.requests)) == (3, 0)


@pytest.mark.parametrize("step", [refused(400, code="content_filter"), said(None, refusal="no")])
async def test_what_the_model_says_about_the_content_is_not_asked_again_elsewhere(
    connect: Connect, step: object
) -> None:
    second = Scripted([said(GOOD)])
    with pytest.raises(Permanent):
        await connect(Scripted([step]), fallback=second)()  # type: ignore[list-item]
    assert second.requests == []


async def test_where_both_are_away_battles_wait_and_the_first_that_is_back_answers(connect: Connect) -> None:
    first, second = Scripted([refused(402), said(GOOD)]), Scripted([refused(404)])
    ask = connect(first, fallback=second)
    with pytest.raises(ModelOutage):
        await ask()
    away = ask.model.first_away()
    assert away is not None
    assert (away.cause, away.fallback_answers) == (Cause.QUOTA, False)
    assert (len(first.requests), len(second.requests)) == (1, 1)
    with pytest.raises(ModelOutage):
        await ask()
    assert (len(first.requests), len(second.requests)) == (1, 1)
    ask.model.circuit._open.next_probe = 0.0
    assert (await ask()).value.labels
    assert open_circuits("fallback-1", "model", "fallback") == 0  # not asked any more, so nothing is known
