"""The wiring of the gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from nuggetstream.domain.lens import Lens
from services.cli.wiring.access_parts import gateway_access
from services.cli.wiring.budgets import budgets_of
from services.cli.wiring.parts import Parts
from services.cli.wiring.shared_parts import consumer_watch
from services.gateway.admission import admission_to
from services.gateway.app import create_app
from services.gateway.battles.followers import Followers
from services.gateway.battles.grpc_service import RPC_LIMITS, arena_service
from services.gateway.battles.ingest import ingest_stage
from services.gateway.battles.intake import Intake
from services.gateway.battles.labelled import LabelledBattles
from services.gateway.battles.relay import Relay
from services.gateway.build import further_routes
from services.gateway.health import readiness
from services.gateway.hosts import AllowedHosts
from services.gateway.pages.environment import compile_templates
from services.gateway.ports import Gateway
from services.gateway.ratings.client import RatingsClient
from services.gateway.ratings.style_boards import StyleBoards
from services.gateway.server import http_server
from services.gateway.stream.reading import EventReader
from services.gateway.stream.tail import Tail
from services.gateway.webhooks.deliveries import Deliveries
from services.gateway.webhooks.sender import Sender
from services.runtime import rpc
from services.runtime.address_guard import GuardedBackend, SystemResolver
from services.runtime.service import BackgroundTask, Service
from services.store.battles.battle_search import BattleSearch
from services.store.battles.battles import Battles
from services.store.battles.labelled_events import LabelledEvents
from services.store.battles.submissions import Submissions
from services.store.outcomes.doubts import Doubts
from services.store.outcomes.label_agreement import LabelCounts
from services.store.outcomes.outcomes import Outcomes
from services.store.outcomes.styled_outcomes import StyledOutcomes
from services.store.outcomes.system_shares import SystemShares
from services.store.spend.costs import Costs
from services.store.work.outbox import Outbox
from services.wire.model_state import ModelStates
from services.wire.retries import StageRetries


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The gateway: REST, server-sent events, pages, gRPC, and battles that come over NATS."""
    battles = Battles(parts.database)
    followers, models, retries = Followers(battles), ModelStates(), StageRetries()
    relay = Relay(parts.bus, Outbox(parts.database))
    usage, admission = await admission_to(parts.bus, (*parts.checks, relay.problem))
    async with (
        rpc.channel(parts.platform.rater_address, parts.platform.channel_security) as channel,
        followers.listening(parts.bus),
        models.listening(parts.bus),
        retries.listening(parts.bus),
        Sender(GuardedBackend(SystemResolver(), parts.access.webhook_allowed_hosts)) as sender,
    ):
        access = await gateway_access(parts, battles)
        gateway = Gateway(
            battles=battles,
            intake=Intake(battles, Submissions(parts.database), relay, admission, parts.entry.filter),
            ratings=RatingsClient(channel, Lens(parts.pipeline.nugget_lens), sign=access.signature),
            followers=followers,
            readiness=readiness(relay, usage, parts.database, admission),
            models=models,
            retries=retries,
            access=access,
            **_stores(parts),
        )
        tail = Tail.of(parts.database, gateway)
        links = (parts.bus, parts.database, access, parts.platform.evaluators)
        further = further_routes(gateway, *links, tail=tail, sender=sender, budgets=budgets_of(parts))
        hosts = AllowedHosts.of((parts.host, *parts.allowed_hosts))
        app = create_app(gateway, hosts, *further, sites=parts.access.sites)
        async with tail.listening(parts.bus), http_server(app, parts.host, parts.http_port) as url:
            yield Service(
                name="gateway",
                stages=[ingest_stage(gateway.intake, parts.blobs)],
                rpcs=[arena_service(gateway, tail)],
                background=[usage.run, relay.run, *_background(parts, gateway, sender)],
                url=url,
                rpc_limits=RPC_LIMITS,
            )


def _background(parts: Parts, gateway: "Gateway", sender: "Sender") -> list["BackgroundTask"]:
    """What the gateway does beside answering."""
    reader = EventReader(gateway.battles, gateway.view)
    return [
        gateway.draining.run,
        consumer_watch(parts.bus).run,
        compile_templates,
        Deliveries(parts.database, reader, sender, parts.bus).run,
    ]


def _stores(parts: Parts) -> dict[str, Any]:
    """What the gateway reads from the database, by its name in `Gateway`."""
    return {
        "outcomes": Outcomes(parts.database),
        "search": BattleSearch(parts.database),
        "doubts": Doubts(parts.database),
        "labels": LabelCounts(parts.database),
        "costs": Costs(parts.database),
        "shares": SystemShares(parts.database),
        "labelled": LabelledBattles(LabelledEvents(parts.database)),
        "styles": StyleBoards(StyledOutcomes(parts.database)),
    }
