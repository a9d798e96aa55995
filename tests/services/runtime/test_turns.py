"""Long work gives others a turn."""

import asyncio
import time

from services.runtime.turns import Turns


async def test_other_tasks_run_once_a_turn_is_over() -> None:
    order = []

    async def other() -> None:
        order.append("other")

    turns = Turns(length=0.01)
    task = asyncio.create_task(other())
    await turns.pause()
    order.append("work")
    time.sleep(0.02)
    await turns.pause()
    order.append("more work")
    await task
    assert order == ["work", "other", "more work"]
