"""What one request to the database costs, in time and in processor time."""

import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

REPEATS = 5


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request costs: seconds until the answer, and processor seconds of this process among them."""

    seconds: float
    processor: float | None


async def median(call: Callable[[], Awaitable[object]], repeats: int = REPEATS) -> Cost:
    return middle([await once(call) for _ in range(repeats)])


async def once(call: Callable[[], Awaitable[object]]) -> Cost:
    start, processor = time.perf_counter(), time.process_time()
    await call()
    return Cost(time.perf_counter() - start, time.process_time() - processor)


def middle(costs: list[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.seconds for cost in costs),
        statistics.median(cost.processor or 0.0 for cost in costs),
    )
