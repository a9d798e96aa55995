"""GET /healthz and /readyz, and what readiness depends on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from nuggetstream.views.common import Health
from services.gateway.admission import Admission
from services.gateway.battles.relay import Relay
from services.runtime.errors import Unavailable
from services.runtime.masking import KNOWN
from services.runtime.stream_usage import StreamUsage
from services.store.answering import require_answer
from services.store.database import Database
from services.wire.model_state import ModelStates
from services.wire.query_parameters import QueryParameters

Readiness = Callable[[], Awaitable[Sequence[str]]]
"""Gives the reasons why the process is not ready; none when it is."""
_NO_CHECKS = Admission()


class ReadinessQuery(QueryParameters):
    """What is asked of `/readyz`."""

    only: Literal["traffic"] | None = None
    """`traffic`: only whether requests may be sent here, for probes of an orchestrator. Without the broker or
    room for battles, much is still served, and no other gateway would do better."""


class Draining:
    """Whether the process was told to end."""

    def __init__(self) -> None:
        self._begun = False

    async def run(self, stop: asyncio.Event) -> None:
        """Note when `stop` is set; a background task of the service."""
        await stop.wait()
        self._begun = True

    async def reasons(self) -> Sequence[str]:
        """The reason why no further requests should be sent here; none while the process goes on."""
        return ["the gateway is shutting down"] if self._begun else []


def routes(readiness: Readiness, models: ModelStates, traffic: Readiness) -> APIRouter:
    """The routes of liveness (the process answers) and readiness (it can do its work).

    A model that is away is a note and no reason: battles are accepted and wait, or go on with a fallback.

    Args:
        readiness: Reasons why some work cannot be done, for operators.
        models: Whether the model answers each stage.
        traffic: Reasons why requests should not be sent here at all, for probes.
    """
    router = APIRouter(tags=["operations"])

    @router.get("/healthz", summary="Whether the process is alive")
    async def healthz() -> Health:
        return Health(status="ok")

    @router.get("/readyz", summary="Whether the process can do its work", responses={503: {"model": Health}})
    async def readyz(query: Annotated[ReadinessQuery, Query()], response: Response) -> Health:
        notes = [f"{away.reason}, since {away.since:%Y-%m-%d %H:%M} UTC" for away in models.without_first()]
        reasons = list(await traffic())
        if query.only is None:
            reasons += [reason for reason in await readiness() if reason not in reasons]
        if reasons:
            response.status_code = 503
            return Health(status="unavailable", reasons=reasons, notes=notes)
        return Health(status="ok", notes=notes)

    return router


def readiness(
    relay: Relay,
    usage: StreamUsage,
    database: Database,
    admission: Admission = _NO_CHECKS,
    within: float = 2.0,
) -> Readiness:
    """Readiness that requires a broker that takes messages, a database that answers, and room for battles.

    Args:
        relay: Publishes to the broker what was accepted, and knows whether the last message was taken.
        usage: Knows whether the broker's streams answered within the last seconds.
        database: Database, which is asked to answer an empty query.
        admission: What prevents battles from being accepted, such as a full disk.
        within: Seconds that the database has to answer; whoever checks readiness does not wait long either.
    """

    async def reasons() -> list[str]:
        problems = await admission.problems()
        broker = usage.unanswered or relay.rejected if relay.bus.connected else "the broker is not connected"
        if broker is not None:
            problems.append(broker)
            if relay.waiting:
                problems.append(
                    f"{relay.waiting:,} messages of accepted battles and votes wait for the broker"
                )
        try:
            await require_answer(database, within)
        except Unavailable as error:
            problems.append(KNOWN.redact(error.detail))
        return problems

    return reasons
