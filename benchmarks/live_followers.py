"""How long after the first of many clients the last one learns that a battle has ended.

Each client is a bare connection that reads lines: hundreds of clients of an HTTP library in one process take
seconds to connect, and then the battle ends before they follow it.
"""

import asyncio
import time

import httpx2

_LINE = 2**20  # bytes; an event is one line


async def spread_of(http: httpx2.AsyncClient, body: str, followers: int) -> float:
    """Seconds between the first and the last of many clients that learn that a battle has ended.

    Raises:
        RuntimeError: A client may not follow the battle, or its stream ended before the battle.
    """
    response = await http.post("/v1/battles", content=body, headers={"content-type": "application/json"})
    path = f"/v1/battles/{response.raise_for_status().json()['battle_id']}/events"
    async with asyncio.timeout(120):
        moments = await asyncio.gather(*(_learns(http.base_url, path) for _ in range(followers)))
    return max(moments) - min(moments)


async def _learns(server: httpx2.URL, path: str) -> float:
    """When a client that follows a battle learns of its end, by the monotonic clock."""
    reader, writer = await asyncio.open_connection(server.host, server.port, limit=_LINE)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n\r\n".encode())
        if b" 200 " not in (status := await reader.readline()):
            raise RuntimeError(f"a client that wanted to follow a battle was answered {status!r}")
        while line := await reader.readline():
            if line.startswith(b"event: ended"):
                return time.monotonic()
        raise RuntimeError("a stream of events ended before its battle")
    finally:
        writer.close()
