"""Embedded mode: all services in one process, with one connection to a child nats-server.

They are the services of separate containers, with SQLite as the database and, if no model is configured, the
offline model. All state is in one folder; a platform started on it again continues where it stopped.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from services.cli.wiring.data_folder import NATS, locked_folder
from services.cli.wiring.parts import Configuration, Parts
from services.cli.wiring.prepared import migrated_database
from services.cli.wiring.registry import CALLED, SERVICES, open_service
from services.cli.wiring.reranking import open_loaded_reranking
from services.cli.wiring.settings import PlatformSettings
from services.cli.wiring.tuning import for_batches, tuned
from services.runtime.bus import Bus, ConsumerSpec, ensure, has_streams, remove_undeclared
from services.runtime.disk import Check, DiskProbe
from services.runtime.lifecycle import started
from services.runtime.llm.limiter import Limits
from services.runtime.nats_server import NatsServer
from services.runtime.nats_supervisor import NatsSupervisor
from services.runtime.service import run_service
from services.store.database import Database
from services.wire.evaluators import GRADER_PREFIX
from services.wire.subjects import STREAM_ARENA
from services.wire.topology import consumers, streams

if TYPE_CHECKING:
    from services.retriever.reranking import Reranking
    from services.runtime.llm.batches.transport import Batches

# The broker stops with the process and loses the naks of messages that were handed back. They are redelivered
# after ack_wait, so here it is short.
_ACK_WAIT = 10.0
_BATCHED_GRACE = 2.0  # seconds; what waits for a batch does not finish within a longer time either


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices(Configuration):
    """The configuration of embedded mode.

    Attributes:
        folder: Folder for the broker's streams and the database.
        grpc_port: gRPC port of the gateway; 0 takes a free one.
        ratings_port: gRPC port of the rater; 0 takes a free one. The other services always take free ones.
        grace: Seconds that work in flight gets when leaving.
        evaluators: Names of the evaluators; None: those of the environment.
    """

    folder: Path
    grpc_port: int = 0
    ratings_port: int = 0
    grace: float = 20.0
    evaluators: tuple[str, ...] | None = None

    def in_batches(self, batches: "Batches") -> "Choices":
        """The configuration with model calls in batches: many battles at once, which wait for days."""
        return replace(self, batches=batches, grace=_BATCHED_GRACE)


@dataclass(frozen=True, slots=True)
class Embedded:
    """A running platform.

    Attributes:
        url: Base URL of the gateway.
        nats: URL of the broker, with its token.
        grpc: Addresses ("host:port") of the services' gRPC, by name of the service.
        database: The database.
        bus: A connection to the broker for the caller.
        evaluators: Names of the declared evaluators.
    """

    url: str
    nats: str
    grpc: dict[str, str]
    database: Database
    bus: Bus
    evaluators: Sequence[str] = ()


@asynccontextmanager
async def embedded(choices: Choices) -> AsyncIterator[Embedded]:
    """Run the whole platform for the duration of the block.

    Raises:
        FolderInUse: Another process runs the platform in that folder.
        NatsServerMissing: There is no broker binary.
        NotPreparedYet: The reranker cannot be loaded.
        ExceptionGroup: A service failed; the block is cancelled.
    """
    app = None if choices.dry_run is None else choices.dry_run.endpoints
    async with (
        locked_folder(choices.folder) as lock,
        migrated_database(choices.folder) as database,
        open_loaded_reranking(choices.retrieval, choices.llm, database, app) as reranking,
    ):
        stop = asyncio.Event()
        async with NatsServer(choices.folder / NATS, inherited=(lock,)) as server:
            platform = _platform(choices, server.url, database.url)
            async with Bus.connect(platform.bus("embedded")) as bus:
                prepare = partial(_prepare, bus, platform, choices.batches is not None)
                await prepare()
                disk = DiskProbe(choices.folder).problem
                present = partial(has_streams, bus.js, streams())
                supervisor = NatsSupervisor(server, disk, present, prepare)
                async with asyncio.TaskGroup() as group:
                    group.create_task(supervisor.run(stop))
                    try:
                        starter = _Starter(
                            choices=choices,
                            platform=platform,
                            database=database,
                            checks=(disk,),
                            reranking=reranking,
                        )
                        running = await starter.start(group, bus, stop)
                        started()
                        yield running
                    finally:
                        stop.set()


def _platform(choices: Choices, nats_url: str, database_url: str) -> PlatformSettings:
    settings = PlatformSettings(nats_url=nats_url, database_url=database_url)
    if choices.evaluators is None:
        return settings
    return settings.model_copy(update={"evaluators": choices.evaluators})


async def _prepare(bus: Bus, platform: PlatformSettings, batched: bool) -> None:
    declared = consumers(platform.evaluators)
    if batched:
        declared = [for_batches(spec) for spec in declared]
    await ensure(bus.js, streams(total_bytes=platform.nats_stream_bytes), _with_ack_wait(declared))
    # The consumer of an evaluator of an earlier run, which nobody reads, would keep every message.
    await remove_undeclared(bus.js, STREAM_ARENA, GRADER_PREFIX, declared)


def _with_ack_wait(specs: Sequence[ConsumerSpec]) -> list[ConsumerSpec]:
    return [replace(spec, ack_wait=_ACK_WAIT) for spec in specs]


@dataclass(slots=True)
class _Starter:
    """Starts the services one after another, each with the addresses of those before it."""

    choices: Choices
    platform: PlatformSettings
    database: Database
    checks: Sequence[Check]
    reranking: "Reranking | None"
    limits: Limits = field(default_factory=Limits)
    callers: set[str] = field(default_factory=lambda: set(SERVICES) - set(CALLED))  # that have not ended
    callers_ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self, group: asyncio.TaskGroup, bus: Bus, stop: asyncio.Event) -> Embedded:
        ports: dict[str, str] = {}
        urls: dict[str, str | None] = {}
        for name in SERVICES:
            started: asyncio.Future[tuple[int, str | None]] = asyncio.get_running_loop().create_future()
            group.create_task(self._run(name, bus, stop, started))
            port, urls[name] = await started
            ports[name] = f"127.0.0.1:{port}"
            if name in CALLED:
                update = {f"{name}_address": ports[name]}
                self.platform = self.platform.model_copy(update=update)
        url = urls["gateway"]
        if url is None:
            raise RuntimeError("the gateway has no HTTP server")
        return Embedded(
            url=url,
            nats=self.platform.nats_url,
            grpc=ports,
            database=self.database,
            bus=bus,
            evaluators=self.platform.evaluators,
        )

    async def _run(
        self, name: str, bus: Bus, stop: asyncio.Event, started: asyncio.Future[tuple[int, str | None]]
    ) -> None:
        try:
            # The services share a connection: what several of them send at once is written at once.
            async with open_service(name, self._parts(bus)) as service:

                def ready(port: int) -> None:
                    started.set_result((port, service.url))

                fixed = {"gateway": self.choices.grpc_port, "rater": self.choices.ratings_port}
                host = self.choices.host if name == "gateway" else "127.0.0.1"
                await run_service(
                    tuned(service, _ACK_WAIT, batched=self.choices.batches is not None),
                    bus,
                    stop,
                    grpc_address=f"{host}:{fixed.get(name, 0)}",
                    grace=self.choices.grace,
                    ready=ready,
                    callers_ended=self.callers_ended if name in CALLED else None,
                )
        except BaseException as error:
            if not started.done():
                started.set_exception(error)
            raise
        self.callers.discard(name)
        if not self.callers:
            self.callers_ended.set()

    def _parts(self, bus: Bus) -> Parts:
        choices = self.choices
        return Parts(
            bus=bus,
            database=self.database,
            platform=self.platform,
            pipeline=choices.pipeline,
            fetch=choices.fetch,
            llm=choices.llm,
            host=choices.host,
            http_port=choices.http_port,
            allowed_hosts=choices.allowed_hosts,
            access=choices.access,
            entry=choices.entry,
            checks=self.checks,
            has_broker=True,
            batches=choices.batches,
            embedding=choices.embedding,
            kept_vectors=choices.kept_vectors,
            retrieval=choices.retrieval,
            dry_run=choices.dry_run,
            replayed=choices.replayed,
            reranking=self.reranking,
            limits=self.limits,
        )
