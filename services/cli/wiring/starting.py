"""The start of a service in its own process: it waits until broker and database are prepared."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import grpc

from services.cli.wiring.embedding import Model, require_model
from services.cli.wiring.not_ready import NotReady
from services.cli.wiring.prepared import Requirement, require_streams, require_tables, wait_until_prepared
from services.cli.wiring.process import connected
from services.cli.wiring.reranking import require_reranker
from services.cli.wiring.settings import PlatformSettings, ServerSettings
from services.cli.wiring.waiting import PATIENCE_S
from services.runtime.bus import Bus
from services.store.database import Database

if TYPE_CHECKING:
    from services.retriever.reranking import Reranking


@dataclass(frozen=True, slots=True)
class Start:
    """What decides how a service starts.

    Attributes:
        service: Name of the service.
        server: Where it listens.
        platform: Where the broker is.
        database: The database that must have all tables.
        grpc_port: gRPC port; 0 takes a free one.
        http_port: HTTP port of the gateway.
        embedder: The embedding model of the indexer, which must answer; None for other services.
        reranking: The reranker of the retriever, which must be loaded; None for other services.
        patience_s: Seconds that it waits for the broker, its streams and the migrations.
    """

    service: str
    server: ServerSettings
    platform: PlatformSettings
    database: Database
    grpc_port: int
    http_port: int
    embedder: Model | None = None
    reranking: "Reranking | None" = None
    patience_s: float = PATIENCE_S

    @property
    def grpc_address(self) -> str:
        """Address of gRPC as "host:port"."""
        return f"{self.server.host}:{self.grpc_port}"

    @property
    def security(self) -> grpc.ServerCredentials | None:
        """The certificate for gRPC; None where it is plain text."""
        certificates = self.platform.certificates
        return None if certificates is None else certificates.server()

    def requirements(self, bus: Bus) -> list[Requirement]:
        """What must be met before the service starts."""
        needed: list[Requirement] = [partial(require_streams, bus), partial(require_tables, self.database)]
        if self.embedder is not None:
            needed.append(partial(require_model, self.embedder))
        if self.reranking is not None:
            needed.append(partial(require_reranker, self.reranking.reranker))
        return needed

    @asynccontextmanager
    async def when_prepared(self, stop: asyncio.Event) -> AsyncIterator[Bus | None]:
        """A connection to the broker once the service can start; None when `stop` was set before.

        Meanwhile the service is alive and not ready: see `NotReady`.

        Raises:
            StoppedWaiting: `stop` was set before a broker answered.
            Unavailable: No broker answered within the patience.
            NotPrepared: See `wait_until_prepared`.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + self.patience_s
        settings = replace(self.platform.bus(self.service), connect_within=self.patience_s)
        async with AsyncExitStack() as connection:
            http = self.server if self.service == "gateway" else None
            async with NotReady(self.grpc_address, http, self.http_port, self.security) as not_ready:
                bus = await connection.enter_async_context(connected(settings, stop, not_ready.because))
                left = until - clock()
                ready = await wait_until_prepared(self.requirements(bus), stop, left, not_ready.because)
            yield bus if ready else None
