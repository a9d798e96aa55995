"""The client of the broker closes what it does not use: pytest fails where a connection is left to Python."""

import asyncio
import itertools

from services.runtime.bus.client import PatientClient


async def test_a_client_of_a_broker_that_hangs_closes_its_connections_and_ends() -> None:
    numbers, open_ones, third = itertools.count(1), set[int](), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_ones.add(number := next(numbers))
        if number == 1:  # it works, and then it is gone
            writer.write(b'INFO {"max_payload": 1000}\r\n')
            await reader.readuntil(b"PING\r\n")
            writer.write(b"PONG\r\n")
            await writer.drain()
        else:  # the kernel accepts connections to a process that hangs
            if number == 4:
                third.set()
            await reader.read()
        writer.close()
        open_ones.discard(number)

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, asyncio.timeout(60):
        client, port = PatientClient(), server.sockets[0].getsockname()[1]
        # nats-py types seconds as whole numbers
        await client.connect(
            f"nats://127.0.0.1:{port}", connect_timeout=0.05, reconnect_time_wait=0.01,  # type: ignore[arg-type]
            max_reconnect_attempts=-1,
        )  # fmt: skip
        await third.wait()
        await client.close()
        while open_ones:
            await asyncio.sleep(0.01)
        assert client.is_closed  # and makes no others
