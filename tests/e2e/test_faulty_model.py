"""Many battles against a model that fails in every way: all end, and nothing else suffers from it."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nuggetstream.client import AsyncClient
from nuggetstream.domain.failure import Reason
from nuggetstream.views.battles import BattleView
from services.offline.app import create_app
from services.offline.faults import Faults
from services.offline.serve import running
from tests.e2e.battles import battle
from tests.e2e.with_model import ended, platform

BATTLES = 30
# Together one call in five.
FAULTS = Faults(
    seed=11, rate_limited=0.03, server_error=0.04, timeout=0.01, dropped=0.02, cut=0.02, invalid_json=0.02,
    wrong_count=0.015, unknown_label=0.015, empty=0.01, refusal=0.01, content_filter=0.01,
    retry_after_s=0.01, hang_s=2,
)  # fmt: skip
PERMANENT = {Reason.LLM_REFUSED, Reason.CONTENT_FILTERED}


class Paid:
    """Counts the calls that the model answered, whatever their worth."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self.calls = app, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            self.calls += message["type"] == "http.response.start" and message["status"] == 200
            await send(message)

        await self._app(scope, receive, counted)


async def evaluated(folder: Path, faults: Faults) -> tuple[dict[str, BattleView], int]:
    """The battles when all have ended, and the number of calls that were paid for."""
    paid = Paid(create_app(None, faults))
    async with running(paid) as url:
        port = int(url.rpartition(":")[2].removesuffix("/v1"))
        async with (
            platform(folder, port, calls=5) as platform_,
            AsyncClient(platform_.url) as client,
        ):
            receipts = [await client.submit(battle(number)) for number in range(BATTLES)]
            views = [await ended(client, receipt.battle_id) for receipt in receipts]
    return {view.id: view for view in views}, paid.calls


def result(view: BattleView) -> Mapping[str, object]:
    """What a battle came to, without times and costs."""
    return view.model_dump(include={"nuggets", "nugget_verdict", "judgments"})


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_battles_end_and_score_as_with_a_model_that_never_fails(tmp_path: Path) -> None:
    clean, clean_calls = await evaluated(tmp_path / "clean", Faults())
    faulty, faulty_calls = await evaluated(tmp_path / "faulty", FAULTS)
    assert {view.state for view in clean.values()} == {"scored"}
    failed = {name: view for name, view in faulty.items() if view.failures}
    assert {failure.reason for view in failed.values() for failure in view.failures} <= PERMANENT
    assert 0 < len(failed) < BATTLES / 4
    untouched = faulty.keys() - failed.keys()
    assert {name: result(faulty[name]) for name in untouched} == {
        name: result(clean[name]) for name in untouched
    }
    assert clean_calls == 5 * BATTLES
    assert clean_calls < faulty_calls <= 1.35 * clean_calls
