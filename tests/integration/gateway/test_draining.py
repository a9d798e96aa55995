"""A gateway that was told to end still answers, and says that it wants no further requests."""

import asyncio

from tests.integration.gateway.world import World


async def test_a_gateway_that_drains_asks_for_no_more_traffic(world: World) -> None:
    stop = asyncio.Event()
    noting = asyncio.create_task(world.gateway.draining.run(stop))
    assert (await world.http.get("/readyz?only=traffic")).status_code == 200
    stop.set()
    await noting
    for path in ("/readyz?only=traffic", "/readyz"):
        reply = await world.http.get(path)
        assert (reply.status_code, reply.json()["reasons"]) == (503, ["the gateway is shutting down"])
    assert (await world.http.get("/healthz")).status_code == 200
    assert (await world.http.get("/readyz?only=visitors")).status_code == 422
