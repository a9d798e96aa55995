"""How much longer 32 battles at once take than one, for `llm.py`.

The handlers of nuggetizer, assigner and judge run with the limits of the services: each has a client of its
own, with the default number of calls at once, and works on the default number of battles at once. All battles
are evaluated before, so that the offline model, which shares the processor, answers from memory, and the
clients have learnt how many calls it takes at once. Each is also evaluated alone: all of them together cannot
take less time than the one with the longest reply.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from pydantic import SecretStr

from benchmarks.cpu import serving_model
from benchmarks.llm_variants import LIVE, judge_of
from nuggetstream.domain.event import BattleNuggetized, BattleRetrieved
from services.assigner.stage import Assigner
from services.judge.stage import Panel
from services.nuggetizer.stage import Nuggetizer
from services.runtime.llm.build import build_chat_model
from services.runtime.llm.limiter import Limits
from services.runtime.llm.prices import OFFLINE_MODEL
from services.runtime.llm.settings import LLMSettings

AT_ONCE = 32
GOAL = 1.5
_LEARNING = 3  # evaluations of all battles before the one that is measured


@dataclass(frozen=True)
class Services:
    """The handlers, and how many battles each may work on."""

    nuggetizer: Nuggetizer
    assigner: Assigner
    judge: Panel
    free: Sequence[asyncio.Semaphore]

    async def evaluate(self, event: BattleRetrieved) -> None:
        """Nuggets and assignment, and the judge beside them."""
        await asyncio.gather(self._nuggets(event), self._judged(event))

    async def _nuggets(self, event: BattleRetrieved) -> None:
        async with self.free[0]:
            [made] = await self.nuggetizer(event)
        assert isinstance(made, BattleNuggetized)
        async with self.free[1]:
            await self.assigner(made)

    async def _judged(self, event: BattleRetrieved) -> None:
        async with self.free[2]:
            await self.judge(event)


async def seconds(events: Sequence[BattleRetrieved], url: str, limits: Sequence[Limits]) -> float:
    """Seconds from the start of all battles to the end of the last, with nothing in the cache of replies."""
    settings = LLMSettings(api_key=SecretStr("none"), base_url=url, model=OFFLINE_MODEL, battle_tokens=None)
    async with AsyncExitStack() as opened:
        models = [build_chat_model(settings, limits=learnt) for learnt in limits]
        for model in models:
            opened.push_async_callback(model.close)
        services = Services(
            Nuggetizer(models[0], **LIVE.nuggetizer),
            Assigner(models[1], **LIVE.assigner),
            judge_of(models[2], LIVE),
            [asyncio.Semaphore(settings.concurrency // 2) for _ in range(3)],
        )
        began = time.perf_counter()
        await asyncio.gather(*map(services.evaluate, events))
        return time.perf_counter() - began


def report(events: Sequence[BattleRetrieved], *delays: str) -> str:
    """The line of `llm.py` about battles at once."""
    chosen, limits = events[:AT_ONCE], [Limits() for _ in range(3)]
    with serving_model("-m", "benchmarks.llm_endpoint", *delays) as url:
        for _ in range(_LEARNING):
            asyncio.run(seconds(chosen, url, limits))
        alone = [asyncio.run(seconds([event], url, limits)) for event in chosen]
        used = time.process_time()
        together = asyncio.run(seconds(chosen, url, limits))
        used = time.process_time() - used
    middle, longest = statistics.median(alone), max(alone)
    return (
        f"{len(chosen)} battles at once take {together:.2f} s, one takes {middle:.2f} s: "
        f"{together / middle:.2f} times (goal {GOAL:.1f}); the longest of them takes {longest:.2f} s alone: "
        f"{together / longest:.2f} times; {used:.2f} s is processor time of ours"
    )
