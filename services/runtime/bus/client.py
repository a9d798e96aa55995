"""nats-py's client with three bugs worked around."""

import asyncio

from nats.aio.client import Client, Srv


class PatientClient(Client):
    """Works around three bugs of nats-py 2.16.

    When a pong arrives for a flush that timed out, nats-py stops reading for good, and only the ping timer
    notices, after half a minute or more. Here such a pong is counted like any other.

    While connecting, nats-py tries the next server after any failure. In Python 3.11 a cancellation while a
    connection is refused or made comes out of `asyncio.wait_for` as its result, so that connecting would go
    on for ever after it was cancelled. Here the cancellation is raised.

    While reconnecting, nats-py closes no connection on which the server does not answer before it makes
    another one: Python does, with a warning, and not in all versions. Here it is closed first.
    """

    async def _process_pong(self) -> None:
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.Future()
        await super()._process_pong()

    async def _connect_to_server(self, s: Srv) -> None:
        if self._transport is not None:
            self._transport.close()  # type: ignore[no-untyped-call]
        try:
            await super()._connect_to_server(s)
        finally:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from None
