"""nats-py's client with two bugs worked around."""

import asyncio

from nats.aio.client import Client, Srv


class PatientClient(Client):
    """Works around two bugs of nats-py 2.16.

    When a pong arrives for a flush that timed out, nats-py stops reading for good, and only the ping timer
    notices, after half a minute or more. Here such a pong is counted like any other.

    While connecting, nats-py tries the next server after any failure. In Python 3.11 a cancellation during a
    refused connection comes out of `asyncio.wait_for` as the refusal, so that connecting would go on for
    ever after it was cancelled. Here the cancellation is raised.
    """

    async def _process_pong(self) -> None:
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.Future()
        await super()._process_pong()

    async def _connect_to_server(self, s: Srv) -> None:
        try:
            await super()._connect_to_server(s)
        except Exception:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from None
            raise
