"""Whoever gives up on a broker that is away is let go, however the giving up and the refusal meet."""

import asyncio

import pytest
from nats.aio.client import Client

from services.runtime.bus import Bus, BusSettings


async def test_a_cancellation_that_a_refused_connection_swallowed_still_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried, attempts = asyncio.Event(), 0

    async def refused(*_: object) -> None:
        nonlocal attempts
        attempts += 1
        tried.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:  # as `asyncio.wait_for` of Python 3.11 does with a finished future
            raise ConnectionRefusedError from None

    async def connect() -> None:
        async with Bus.connect(BusSettings(servers=("nats://127.0.0.1:1",))):
            pass

    monkeypatch.setattr(Client, "_connect_to_server", refused)
    connecting = asyncio.create_task(connect())
    await tried.wait()
    connecting.cancel()
    done, _ = await asyncio.wait({connecting}, timeout=90)
    connecting.cancel()
    assert done
    assert connecting.cancelled()
    assert attempts == 1
