"""nats-py's client with two faults mended."""

import asyncio

from nats.aio.client import Client, Srv


class PatientClient(Client):
    """nats-py 2.16 stops reading for good when a pong arrives for a flush that was given up on.

    Nothing then notices but the ping timer, after half a minute or more. A pong nobody waits for is
    counted like any other instead.

    It also tries the next server whatever a failure was, and in Python 3.11 a cancellation that meets a
    refused connection comes out of `asyncio.wait_for` as the refusal: whoever gave up would wait for good.
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
