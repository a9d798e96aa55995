"""What a starting service answers while it waits: it is alive, it is not ready, and why.

gRPC: "live" is SERVING and "" is NOT_SERVING        HTTP of the gateway: /healthz is 200, all else 503
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

import grpc

from services.cli.wiring.settings import ServerSettings
from services.runtime import rpc


class NotReady:
    """Listens where the service will listen, from the first reason to wait until the block ends.

    A service that need not wait never listens twice.

    Args:
        grpc_address: Address of gRPC as "host:port".
        http: Where the gateway listens; None for another service.
        http_port: HTTP port of the gateway.
        security: The certificate for gRPC; without one it serves plain text.
    """

    def __init__(
        self,
        grpc_address: str,
        http: ServerSettings | None = None,
        http_port: int = 0,
        security: grpc.ServerCredentials | None = None,
    ) -> None:
        self._grpc_address = grpc_address
        self._http, self._http_port = http, http_port
        self._security = security
        self._reason: str | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def because(self, reason: str) -> None:
        """Say why the service is not ready.

        Raises:
            CannotListen: An address is in use.
        """
        first, self._reason = self._reason is None, reason
        if first:
            await self._listen()

    async def _listen(self) -> None:
        if self._http is not None:
            # Imported here, because only the image of the gateway has its packages.
            from services.gateway.hosts import AllowedHosts
            from services.gateway.waiting import waiting_app
            from services.runtime.asgi import serving

            hosts = AllowedHosts.of((self._http.host, *self._http.allowed_hosts))
            app = waiting_app(self._reasons, hosts)
            await self._stack.enter_async_context(serving(app, self._http.host, self._http_port, grace=0.1))
        state = rpc.Health(ready=False)
        served = rpc.serve(self._grpc_address, (), grace=0.0, state=state, security=self._security)
        await self._stack.enter_async_context(served)

    async def _reasons(self) -> Sequence[str]:
        return [] if self._reason is None else [self._reason]
