"""nats-py's client with one fault mended."""

import asyncio

from nats.aio.client import Client


class PatientClient(Client):
    """nats-py 2.16 stops reading for good when a pong arrives for a flush that was given up on.

    Nothing then notices but the ping timer, after half a minute or more. A pong nobody waits for is
    counted like any other instead.
    """

    async def _process_pong(self) -> None:
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.Future()
        await super()._process_pong()
