"""How long after the first of many clients the last one learns that a battle has ended.

Each client is a bare connection that reads lines: hundreds of clients of an HTTP library in one process take
seconds to connect, and then the battle ends before they follow it.
"""

import asyncio
import math
import time

import httpx2

_LINE = 2**20  # bytes; an event is one line


async def spread_of(http: httpx2.AsyncClient, body: str, followers: int) -> tuple[float, int]:
    """Seconds between the first and the last of many clients that learn that a battle has ended.

    Returns:
        The seconds, NaN where nobody learned of it; and the number of clients that did. The others were not
        let in, or their stream ended before the battle.
    """
    response = await http.post("/v1/battles", content=body, headers={"content-type": "application/json"})
    path = f"/v1/battles/{response.raise_for_status().json()['battle_id']}/events"
    async with asyncio.timeout(120):
        learnt = await asyncio.gather(*(_learns(http.base_url, path) for _ in range(followers)))
    moments = [moment for moment in learnt if moment is not None]
    return (max(moments) - min(moments) if moments else math.nan), len(moments)


async def _learns(server: httpx2.URL, path: str) -> float | None:
    """When a client that follows a battle learns of its end, by the monotonic clock; None if never."""
    reader, writer = await asyncio.open_connection(server.host, server.port, limit=_LINE)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n\r\n".encode())
        if b" 200 " not in await reader.readline():
            return None
        while line := await reader.readline():
            if line.startswith(b"event: ended"):
                return time.monotonic()
        return None
    finally:
        writer.close()
