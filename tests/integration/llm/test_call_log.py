"""What the client logs of its calls, and when."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from nuggetstream.domain.failure import Reason
from services.runtime import work
from services.runtime.errors import Permanent, Retryable, Unavailable
from services.runtime.llm.call_log import CallLog, ModelCall, Outcome
from tests.integration.llm.conftest import GOOD, Asking, Connect, Scripted, refused, said


@dataclass
class Kept:
    """A store that keeps calls in a list, once the database is there."""

    calls: list[ModelCall] = field(default_factory=list)
    there: asyncio.Event = field(default_factory=asyncio.Event)
    away: int = 0

    async def add(self, calls: Sequence[ModelCall]) -> None:
        await self.there.wait()
        if self.away:
            self.away -= 1
            raise Unavailable(Reason.STORE_UNAVAILABLE, "away")
        self.calls += calls


async def logged(ask: Asking, store: Kept) -> list[tuple[str, int, bool]]:
    store.there.set()
    await ask.model.close()
    return [(call.outcome.value, call.attempt, call.repair) for call in store.calls]


async def test_every_attempt_is_logged_and_nobody_waits_for_it(connect: Connect) -> None:
    store = Kept()  # its database does not answer yet
    steps = [refused(500, "boom"), said("no json"), said(GOOD)]
    ask = connect(Scripted(steps), log=CallLog(store))
    with work.delivery():
        work.begin(work.Work("b1", "demo", "harsh"))
        assert (await ask()).value.labels
        assert (await ask()).usage.cached
    assert await logged(ask, store) == [
        ("failed", 1, False),
        ("unusable", 2, False),
        ("answered", 1, True),
        ("cached", 1, False),
    ]
    failed, unusable, answered, cached = store.calls
    assert failed.detail == "http://scripted.invalid/v1/: boom"
    assert (failed.entry, unusable.reply, answered.reply) == (None, "no json", None)
    assert unusable.entry is not None
    assert unusable.entry.tokens.input == 100
    assert {call.evaluator for call in store.calls} == {"harsh"}
    assert {call.endpoint for call in store.calls} == {"scripted.invalid", None}
    assert (cached.endpoint, cached.seconds, cached.entry) == (None, None, None)
    assert len(answered.messages) == 4  # with the first reply, and what was wrong with it
    assert cached.messages == unusable.messages


async def test_battles_that_ask_the_same_at_the_same_time_share_a_call(connect: Connect) -> None:
    store = Kept()
    ask = connect(Scripted([said(GOOD)]), log=CallLog(store))
    await asyncio.gather(ask(battle="b1"), ask(battle="b2"))
    await logged(ask, store)
    assert sorted((call.battle_id, call.outcome) for call in store.calls) == [
        ("b1", Outcome.ANSWERED),
        ("b2", Outcome.SHARED),
    ]


@pytest.mark.parametrize(
    ("step", "outcome", "detail"),
    [
        (said(None, refusal="I must not."), "refused", "I must not."),
        (said("half", "content_filter"), "filtered", None),
        (refused(400, "no", code="content_filter"), "filtered", "http://scripted.invalid/v1/: no"),
    ],
)
async def test_a_refusal_is_told_from_a_failure(
    connect: Connect, step: object, outcome: str, detail: str | None
) -> None:
    store = Kept()
    ask = connect(Scripted([step]), log=CallLog(store))  # type: ignore[list-item]
    with pytest.raises(Permanent):
        await ask()
    assert await logged(ask, store) == [(outcome, 1, False)]
    assert store.calls[0].detail == detail


async def test_a_database_that_is_away_for_a_while_loses_no_call(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.runtime.llm.call_log._PAUSE_S", 0.01)
    monkeypatch.setattr("services.runtime.llm.call_log._RETRY_S", 0.01)
    store = Kept(away=2)
    store.there.set()
    ask = connect(Scripted([said("no json")]), log=CallLog(store))
    with pytest.raises(Retryable):
        await ask()
    async with asyncio.timeout(90):
        while not store.calls:
            await asyncio.sleep(0.01)
    assert await logged(ask, store) == [("unusable", 1, False), ("unusable", 1, True)]
