"""A whole front door on real parts, and the story of one battle to tell it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, Literal
from unittest import mock

import httpx2
from fastapi._compat import ModelField
from fastapi.dependencies import models as dependency_models
from fastapi.utils import create_model_field
from pydantic import ConfigDict, TypeAdapter

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Answer, Battle, Side, Source, Vote
from nuggetstream.domain.evidence import ChunkRef, Evidence, Page, PageState
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.judgment import Judgment, OrderedVerdict
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import (
    Assignment,
    AssignmentSet,
    Importance,
    Nugget,
    NuggetList,
    Provenance,
    Support,
)
from nuggetstream.domain.pipeline import Stage
from nuggetstream.files.submission import parse_submission
from services.access.keys import LIFETIME, Keys, Policy
from services.access.limits import Quotas, Rates
from services.access.rpc_guard import RpcGuard
from services.access.signing import signature
from services.access.sites import Sites
from services.gateway.access.guard import Access
from services.gateway.access.proxies import TrustedProxies
from services.gateway.admission import admission_to
from services.gateway.app import create_app
from services.gateway.battles.followers import Followers
from services.gateway.battles.grpc_service import RPC_LIMITS, arena_service
from services.gateway.battles.intake import Intake
from services.gateway.battles.labelled import LabelledBattles
from services.gateway.battles.relay import Relay
from services.gateway.build import further_routes
from services.gateway.failures.access import AdminAccess
from services.gateway.health import readiness
from services.gateway.operations.budgets import Budgets
from services.gateway.ports import Gateway
from services.gateway.ratings.client import RatingsClient
from services.gateway.ratings.style_boards import StyleBoards
from services.gateway.server import http_server
from services.gateway.stream.tail import Tail
from services.gateway.webhooks.sender import Sender
from services.rater.boards import Boards
from services.rater.grpc_service import ratings_service
from services.recorder.stage import Recorder
from services.runtime import rpc
from services.runtime.address_guard import GuardedBackend, Resolver, SystemResolver
from services.runtime.bus import Bus, ensure
from services.runtime.bus.message import SCHEMA
from services.runtime.stream_usage import StreamUsage
from services.store.access.api_keys import ApiKeys
from services.store.access.audit_log import AuditLog
from services.store.battles.battle_search import BattleSearch
from services.store.battles.battles import Battles
from services.store.battles.labelled_events import LabelledEvents
from services.store.battles.submissions import Submissions
from services.store.content.blobs import Blobs
from services.store.database import Database
from services.store.outcomes.doubts import Doubts
from services.store.outcomes.label_agreement import LabelCounts
from services.store.outcomes.outcomes import Outcomes
from services.store.outcomes.styled_outcomes import StyledOutcomes
from services.store.outcomes.system_shares import SystemShares
from services.store.spend.costs import Costs
from services.store.work.outbox import Outbox
from services.wire import topology
from services.wire.codec import unseal

_PATIENCE_S = 90.0  # for an answer of a service of the test, on a machine that has much else to do
_TLS = httpx2.create_ssl_context()  # nobody here speaks it, and each client would make its own
NOW = datetime(2025, 5, 4, 12, 0, tzinfo=UTC)
TIDES = "https://example.org/tides"
GONE = "https://example.org/gone"
_NO_PROXIES, _NO_SITES, _NO_BUDGETS = TrustedProxies(), Sites(), Budgets()
GRADERS = ("answer_quality",)
_RESOLVER = SystemResolver()


@dataclass
class World:
    """Everything a test may want to touch."""

    bus: Bus
    database: Database
    gateway: Gateway
    recorder: Recorder
    blobs: Blobs
    http: httpx2.AsyncClient
    grpc_target: str
    usage: StreamUsage
    ratings_target: str
    tail: Tail

    async def happens(self, *happened: events.BattleEvent) -> None:
        """Let the recorder hear of something."""
        for event in happened:
            await self.recorder(event)

    async def published(self) -> list[events.Event]:
        """Every event on the stream, oldest first."""
        found = []
        state = (await self.bus.js.stream_info("ARENA")).state
        for sequence in range(max(state.first_seq, 1), state.last_seq + 1):
            message = await self.bus.js.get_msg("ARENA", sequence)
            headers = message.headers or {}
            found.append(await unseal(headers[SCHEMA], message.data or b"", self.blobs))
        return found


@asynccontextmanager
async def opened(
    bus: Bus,
    database: Database,
    patience: float = 30.0,
    stream_bytes: int = topology.STREAM_BYTES,
    admin_token: str | None = None,
    proxies: TrustedProxies = _NO_PROXIES,
    sites: Sites = _NO_SITES,
    key_lifetime: float = LIFETIME,
    port: int = 0,
    budgets: Budgets = _NO_BUDGETS,
    receivers: Sequence[str] = (),
    resolver: Resolver = _RESOLVER,
    nuggets: Lens = Lens.NUGGET,
) -> AsyncIterator[World]:
    """A front door with its own rater and ports; the broker is given up on after `patience` seconds.

    Its pages are served on `port`, or on a free one where that is 0. Webhooks may be sent to `receivers`.
    `resolver` knows their addresses. The preference by `nuggets` leads.
    """
    consumers = topology.consumers(GRADERS)
    await ensure(bus.js, topology.streams(total_bytes=stream_bytes), consumers)
    battles, outcomes, blobs = Battles(database), Outcomes(database), Blobs(database)
    relay = Relay(bus, Outbox(database), patience)
    usage, admission = await admission_to(bus, [relay.problem])
    keys = Keys(ApiKeys(database), Policy(admin_token), key_lifetime)
    await keys.required()  # as a gateway asks at its start
    guard = RpcGuard(keys=keys, rates=Rates(), log=AuditLog(database), trusts_platform=True)
    boards = Boards(outcomes, battles)
    async with AsyncExitStack() as stack:
        rater_port = await stack.enter_async_context(
            rpc.serve("127.0.0.1:0", [ratings_service(boards, guard)])
        )
        channel = await stack.enter_async_context(rpc.channel(f"127.0.0.1:{rater_port}"))
        followers = Followers(battles)
        access = Access(
            keys=keys,
            battles=battles,
            log=AuditLog(database),
            admin=AdminAccess(admin_token, "127.0.0.1"),
            quotas=Quotas(keys.store),
            proxies=proxies,
        )
        gateway = Gateway(
            battles=battles,
            outcomes=outcomes,
            labels=LabelCounts(database),
            search=BattleSearch(database),
            doubts=Doubts(database),
            intake=Intake(battles, Submissions(database), relay, admission),
            ratings=RatingsClient(channel, nuggets, deadline=_PATIENCE_S, sign=partial(signature, keys)),
            followers=followers,
            readiness=readiness(relay, usage, database, admission),
            costs=Costs(database),
            shares=SystemShares(database),
            styles=StyleBoards(StyledOutcomes(database)),
            labelled=LabelledBattles(LabelledEvents(database)),
            access=access,
        )
        await stack.enter_async_context(followers.listening(bus))
        tail = Tail.of(database, gateway)
        await stack.enter_async_context(tail.listening(bus))
        sender = await stack.enter_async_context(Sender(GuardedBackend(resolver, receivers)))
        # The framework would keep this application, and all that it refers to, as long as the process lives.
        stack.callback(_forget_applications)
        # Routes are completed when the first request arrives.
        stack.enter_context(mock.patch("fastapi._compat.v2.TypeAdapter", _adapter))
        stack.enter_context(mock.patch("fastapi.routing.create_model_field", _response_field))
        further = further_routes(
            gateway, bus, database, access, GRADERS, tail=tail, sender=sender, budgets=budgets
        )
        app = create_app(gateway, None, *further, sites=sites)
        base = await stack.enter_async_context(http_server(app, "127.0.0.1", port, grace=1))
        grpc_port = await stack.enter_async_context(
            rpc.serve("127.0.0.1:0", [arena_service(gateway, tail)], grace=0.2, limits=RPC_LIMITS)
        )
        client = httpx2.AsyncClient(base_url=base, timeout=_PATIENCE_S, verify=_TLS)
        http = await stack.enter_async_context(client)
        recorder = Recorder(battles, bus.core_publish)
        yield World(
            bus=bus,
            database=database,
            gateway=gateway,
            recorder=recorder,
            blobs=blobs,
            http=http,
            grpc_target=f"127.0.0.1:{grpc_port}",
            usage=usage,
            ratings_target=f"127.0.0.1:{rater_port}",
            tail=tail,
        )


def _forget_applications() -> None:
    """Empty the caches of the framework, whose keys are the functions of routes and dependencies."""
    for value in vars(dependency_models).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


_adapters: dict[str, TypeAdapter[Any]] = {}


def _adapter(kind: Any, *, config: ConfigDict | None = None) -> TypeAdapter[Any]:
    """What the framework makes of the type of a parameter or response: the same in every test."""
    key = repr((kind, config))
    if key not in _adapters:
        _adapters[key] = TypeAdapter(kind, config=config)
    return _adapters[key]


@cache
def _response_field(name: str, type_: Any, mode: Literal["serialization"]) -> ModelField:
    """What the framework makes of the type of a response: the same in every test."""
    return create_model_field(name=name, type_=type_, mode=mode)


# --- a story -----------------------------------------------------------------------------------
def submission(**changes: Any) -> dict[str, Any]:
    """A battle as an arena sends it."""
    return {
        "id": "tides",
        "arena": "demo",
        "query": "Why are there two high tides a day?",
        "language": "en",
        "tags": ["category:science"],
        "a": {
            "system": "atlas",
            "text": "The Moon stretches the Earth. Two bulges rise, and the Earth turns beneath both.",
            "sources": [{"url": TIDES, "title": "Tides"}, {"url": GONE}],
        },
        "b": {
            "system": "birch",
            "text": "The Moon pulls the water towards itself. The Sun adds spring tides.",
            "sources": [{"url": "https://example.org/moon", "title": "The Moon"}],
        },
    } | changes


def battle(**changes: Any) -> Battle:
    """The same, accepted."""
    return parse_submission(submission(**changes)).to_core().without_source_texts()


@dataclass(frozen=True)
class Story:
    """Everything that happens to one battle, step by step."""

    battle: Battle

    def _key(self, step: str) -> str:
        return f"{step}:{self.battle.id}"

    @property
    def pages(self) -> tuple[Page, ...]:
        gone = Page(GONE, GONE, "", PageState.REJECTED, "not_found", "The site answers 404.", "", "", NOW)
        urls = dict.fromkeys(s.url for side in Side for s in self.battle.answer(side).sources)
        return tuple(
            gone
            if url == GONE
            else Page(url, url, f"Page {i}", PageState.FETCHED, "ok", "", f"hash{i}", "en", NOW)
            for i, url in enumerate(urls)
        )

    def submitted(self) -> events.BattleSubmitted:
        return events.BattleSubmitted(self._key("submitted"), self.battle)

    def scraped(self) -> events.BattleScraped:
        return events.BattleScraped(self._key("scraped"), self.battle, self.pages)

    def indexed(self) -> events.BattleIndexed:
        chunks = tuple(ChunkRef(f"chunk{i}", page.content_hash) for i, page in enumerate(self.pages))
        return events.BattleIndexed(self._key("indexed"), self.battle, self.pages, chunks)

    def retrieved(self) -> events.BattleRetrieved:
        evidence = tuple(
            Evidence(
                f"chunk{i}",
                f"Text of {page.url}.",
                page.url,
                page.title,
                page.content_hash,
                NOW,
                self.battle.sides_citing(page.url),
                1.0 / (i + 1),
            )
            for i, page in enumerate(self.pages)
            if page.state is not PageState.REJECTED
        )
        return events.BattleRetrieved(self._key("retrieved"), self.battle, self.pages, evidence, "hybrid")

    def nuggetized(self, nuggets: tuple[Nugget, ...] | None = None) -> events.BattleNuggetized:
        nugget_list = NuggetList(nuggets or NUGGETS, (), "live", "both", "offline-heuristic", "1")
        return events.BattleNuggetized(self._key("nuggetized"), self.battle, nugget_list)

    def assigned(self, labels: tuple[Assignment, ...] | None = None) -> events.BattleAssigned:
        assignments = AssignmentSet(labels or LABELS, "offline-heuristic", "1")
        nugget_list = self.nuggetized().nugget_list
        return events.BattleAssigned(self._key("assigned"), self.battle, nugget_list, assignments)

    def judged(self, winner: Vote = Vote.A, flipped: bool = False) -> events.BattleJudged:
        second = Vote.B if flipped else winner
        verdicts = (
            OrderedVerdict(Side.A, winner, "A names both bulges."),
            OrderedVerdict(Side.B, second, "The first answer is shorter."),
        )
        combined = Vote.TIE if flipped else winner
        judgment = Judgment("pairwise", combined, flipped, verdicts, "offline-heuristic", "1")
        return events.BattleJudged(self._key("judged"), self.battle, judgment)

    def voted(self, vote: Vote = Vote.A) -> events.BattleVoted:
        b = self.battle
        return events.BattleVoted(self._key("voted"), b.id, b.arena, b.a.system, b.b.system, vote, NOW)

    def failed(self, stage: Stage, reason: Reason = Reason.LLM_UNAVAILABLE) -> events.BattleFailed:
        failure = StageFailure(stage, reason, "The model did not answer.", 3)
        return events.BattleFailed(self._key(f"failed {stage}"), self.battle.id, self.battle.arena, failure)

    def told(self) -> list[events.BattleEvent]:
        """All of it, in order."""
        return [
            self.submitted(),
            self.scraped(),
            self.indexed(),
            self.retrieved(),
            self.nuggetized(),
            self.assigned(),
            self.judged(),
        ]


NUGGETS = (
    Nugget(
        "n1",
        "Two bulges of water rise.",
        Importance.VITAL,
        (Provenance("answer:a"), Provenance("chunk0", TIDES)),
    ),
    Nugget("n2", "The Earth turns beneath the bulges.", Importance.VITAL, (Provenance("chunk0", TIDES),)),
    Nugget("n3", "The Moon's pull weakens with distance.", Importance.VITAL, (Provenance("chunk0", TIDES),)),
    Nugget("n4", "The Sun causes spring tides.", Importance.OKAY, (Provenance("answer:b"),)),
)
_STATED = {
    "n1": (Support.SUPPORT, Support.PARTIAL_SUPPORT),
    "n2": (Support.SUPPORT, Support.NOT_SUPPORT),
    "n3": (Support.NOT_SUPPORT, Support.NOT_SUPPORT),
    "n4": (Support.NOT_SUPPORT, Support.SUPPORT),
}
_QUOTES = {
    ("n1", Side.A): "Two bulges rise, and the Earth turns beneath both.",
    ("n2", Side.A): "Two bulges rise, and the Earth turns beneath both.",
    ("n4", Side.B): "The Sun adds spring tides.",
}
LABELS = tuple(
    Assignment(nugget, side, support, _QUOTES.get((nugget, side), ""))
    for nugget, both in _STATED.items()
    for side, support in zip(Side, both, strict=True)
)


def between(one: str, other: str, number: int) -> Battle:
    """Another battle, between two named systems."""
    template = battle(id=f"{one}-{other}-{number}")
    a, b = Answer(one, "First.", (Source(TIDES),)), Answer(other, "Second.")
    return replace(template, a=a, b=b)
