"""Drives a run: battles are sent while services, brokers, PostgreSQL, disks and the model fail.

a calm run of the same battles  ->  boards to compare with
battles + strikes               ->  everything settles  ->  what was seen  ->  problems

Where the model is away before anything else goes wrong, the calm run happens meanwhile.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from nuggetstream.client import AsyncClient
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.lens import INDEPENDENT
from services.cli.wiring.embedded import Choices, embedded
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.offline.serve import running
from services.runtime.errors import Unavailable
from services.runtime.llm.settings import LLMSettings
from services.store.battles.battles import Battles
from services.store.outcomes.outcomes import Outcomes
from services.store.outcomes.recount import recount
from tests.chaos.conditions import Seen, problems, summary
from tests.chaos.endpoint import Endpoint
from tests.chaos.installation import Installation, installation
from tests.chaos.strikes import Amount, Kind, Strike, plan
from tests.chaos.striking import HOW
from tests.e2e.battles import battle
from tests.stored import latest

ARENA = "test"
SENDERS = 4
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a run is.

    Attributes:
        battles: Number of battles.
        replicas: Processes of every service but the gateway.
        brokers: Number of brokers.
        amount: How much goes wrong.
        settle_seconds: Seconds after the last strike within which everything must have ended.
    """

    battles: int
    replicas: int
    brokers: int
    amount: Amount
    settle_seconds: float


SCALES = {
    "small": Scale(
        battles=30,
        replicas=1,
        brokers=1,
        amount=Amount(
            kills=4,
            brokers=1,
            databases=1,
            disks=1,
            model_seconds=(40.0,),
            pause=4.0,
            head_start=20.0,  # most strikes meet battles that wait, the last ones battles that go on
            stops=(8.0,),
        ),
        settle_seconds=180.0,
    ),
    "full": Scale(
        battles=500,
        replicas=2,
        brokers=3,
        amount=Amount(
            kills=34,
            brokers=6,
            databases=3,
            disks=2,
            model_seconds=(60.0, 20.0),
            pause=5.0,
            storages=1,
            stops=(60.0, 60.0),
        ),
        settle_seconds=900.0,
    ),
}


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run.

    Attributes:
        problems: What is wrong; empty when every condition holds.
        text: What happened, for a person.
    """

    problems: list[str]
    text: str


async def run(scale: Scale, seed: int, folder: Path, say: Say = print) -> Report:
    """One calm run and one with strikes.

    Args:
        scale: How large they are.
        seed: Decides what goes wrong and when.
        folder: An empty folder for their files.
        say: Prints a line of progress.
    """
    started = time.monotonic()
    say(f"seed {seed}, {scale.battles} battles, {scale.brokers} brokers, {scale.replicas} of each worker")
    async with installation(folder, scale.replicas, scale.brokers) as platform:
        planned = plan(seed, scale.amount, list(platform.processes), list(platform.brokers))
        strikes = _possible(planned, platform)
        async with AsyncClient(platform.url, patience=300) as client:
            await _until_ready(client)
            say(f"ready after {time.monotonic() - started:.0f} s")
            calm_boards, receipts = await _calm_and_struck(scale, folder, platform, client, strikes, say)
            calmed = time.monotonic()
            settled = await _settle(platform, len(receipts), scale.settle_seconds)
            say(
                f"settled {time.monotonic() - calmed:.0f} s after the last strike"
                if settled
                else "not settled"
            )
            seen = await _look(platform, client, receipts)
    wrong = problems(seen, calm_boards)
    lines = [
        f"seed {seed}; {len(strikes)} strikes; {summary(seen)}; {time.monotonic() - started:.0f} s",
        *(f"  {name} ended by itself {count} times" for name, count in sorted(platform.restarts.items())),
        *(f"  PROBLEM: {problem}" for problem in wrong),
    ]
    return Report(wrong, "\n".join(lines))


async def _calm_and_struck(
    scale: Scale,
    folder: Path,
    platform: Installation,
    client: AsyncClient,
    strikes: list[Strike],
    say: Say,
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Run the battles without trouble and with it; the boards of the former, the receipts of the latter."""
    async with asyncio.TaskGroup() as group:
        calm = group.create_task(_calm(scale, folder / "calm"))
        if scale.amount.head_start is None:
            await calm  # later it would delay the endpoint, which notes when calls arrive
        length = sum(strike.pause for strike in strikes)
        sending = group.create_task(_send(client, scale.battles, length))
        await _strike_all(platform, strikes, say)
    return calm.result(), sending.result()


def _possible(strikes: list[Strike], platform: Installation) -> list[Strike]:
    return [strike for strike in strikes if strike.kind is not Kind.DISK or strike.target in platform.disks]


async def _calm(scale: Scale, folder: Path) -> list[Mapping[str, Any]]:
    """The boards of the battles on a platform to which nothing happens."""
    async with running(Endpoint()) as url:
        llm = LLMSettings(
            api_key=SecretStr("sk-test"), base_url=f"{url.removesuffix('/v1')}/calm/v1", model="m"
        )
        pipeline = PipelineSettings(embedding_model="none")
        choices = Choices(folder=folder, pipeline=pipeline, fetch=FetchSettings(), llm=llm, grace=2.0)
        async with embedded(choices) as platform, AsyncClient(platform.url, patience=60) as client:
            async for _ in client.submit_many([battle(number) for number in range(scale.battles)]):
                pass
            async with asyncio.timeout(scale.settle_seconds):
                while await _counted(Outcomes(platform.database)) < scale.battles:
                    await asyncio.sleep(0.2)
            return await _boards(client)


async def _boards(client: AsyncClient) -> list[Mapping[str, Any]]:
    return [board.model_dump(mode="json") for board in await client.leaderboard(ARENA)]


async def _until_ready(client: AsyncClient) -> None:
    async with asyncio.timeout(300):
        while True:
            with suppress(Exception):  # not listening yet
                if (await client.ready()).status == "ok":
                    return
            await asyncio.sleep(0.2)


async def _send(client: AsyncClient, count: int, seconds: float) -> list[str]:
    """Send battles evenly over a time, from several senders; the ids of those with a receipt."""
    numbers = iter(range(count))

    async def sender() -> list[str]:
        receipts = []
        for number in numbers:
            receipts.append((await client.submit(battle(number))).battle_id)
            await asyncio.sleep(seconds * SENDERS / count)
        return receipts

    return [receipt for each in await asyncio.gather(*(sender() for _ in range(SENDERS))) for receipt in each]


async def _strike_all(platform: Installation, strikes: list[Strike], say: Say) -> None:
    """Begin one strike after the other; on one target they wait for each other."""
    began = time.monotonic()
    locks: dict[str, asyncio.Lock] = {}

    async def one(strike: Strike) -> None:
        # One broker at a time: a cluster of three needs two.
        shared = "brokers" if strike.target in platform.brokers else strike.target
        async with locks.setdefault(shared, asyncio.Lock()):
            say(f"{time.monotonic() - began:5.1f} s  {strike}")
            if not await HOW[strike.kind](platform, strike):
                platform.missed.append(str(strike))

    async with asyncio.TaskGroup() as group:
        for strike in strikes:
            group.create_task(one(strike))
            await asyncio.sleep(strike.pause)


async def _settle(platform: Installation, received: int, within: float) -> bool:
    """Wait until every battle has ended and every outcome is counted; False when it takes too long."""
    battles, outcomes = Battles(platform.database), Outcomes(platform.database)
    with suppress(TimeoutError):
        async with asyncio.timeout(within):
            while True:
                with suppress(Unavailable):
                    rows = await latest(battles, received + 1)
                    if all(row.ended_at for row in rows) and await _counted(outcomes) >= received:
                        return True
                await asyncio.sleep(0.5)
    return False


async def _look(platform: Installation, client: AsyncClient, receipts: list[str]) -> Seen:
    battles = Battles(platform.database)
    rows, failures = await latest(battles, 2 * len(receipts)), await battles.failures()
    origin = min((call.at for call in platform.endpoint.calls), default=0.0)
    return Seen(
        receipts=receipts,
        states={row.id: row.state for row in rows},
        calls=[replace(call, at=call.at - origin) for call in platform.endpoint.calls],
        kills=[replace(kill, at=kill.at - origin) for kill in platform.kills],
        boards=await _boards(client),
        wrong_counters=await recount(platform.database, repair=False),
        held=platform.held,
        missed=platform.missed,
        given_up=[each.battle_id for each in failures if each.failure.reason is Reason.LLM_UNAVAILABLE],
    )


async def _counted(outcomes: Outcomes) -> int:
    """Outcomes of the lens that has the fewest."""
    return min(number for lens, number in (await outcomes.counts(ARENA)).items() if lens in INDEPENDENT)
