"""The wiring of the gateway; see `services.cli.wiring`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from nuggetstream.domain.lens import Lens
from services.cli.access_parts import gateway_access
from services.cli.shared_parts import consumer_watch
from services.runtime.service import Service

if TYPE_CHECKING:
    from services.cli.wiring import Parts


@asynccontextmanager
async def open_gateway(parts: "Parts") -> AsyncIterator[Service]:
    """The gateway: REST, server-sent events, pages, gRPC, and battles that come over NATS."""
    from services.gateway.admission import admission_to
    from services.gateway.app import create_app
    from services.gateway.battles.followers import Followers
    from services.gateway.battles.grpc_service import arena_service
    from services.gateway.battles.ingest import ingest_stage
    from services.gateway.battles.intake import Intake, publisher
    from services.gateway.build import further_routes
    from services.gateway.health import readiness
    from services.gateway.hosts import AllowedHosts
    from services.gateway.ports import Gateway
    from services.gateway.ratings.client import RatingsClient
    from services.gateway.server import http_server
    from services.gateway.stream.tail import Tail
    from services.runtime import rpc
    from services.store.battle_search import BattleSearch
    from services.store.battles import Battles
    from services.store.costs import Costs
    from services.store.doubts import Doubts
    from services.store.label_agreement import LabelCounts
    from services.store.outcomes import Outcomes
    from services.store.pending_votes import PendingVotes
    from services.wire.model_state import ModelStates

    battles = Battles(parts.database)
    followers, models = Followers(battles), ModelStates()
    usage, admission = await admission_to(parts.bus, parts.checks)
    async with (
        rpc.channel(parts.platform.rater_address) as channel,
        followers.listening(parts.bus),
        models.listening(parts.bus),
    ):
        access, publish = await gateway_access(parts, battles), publisher(parts.bus, parts.blobs)
        gateway = Gateway(
            battles=battles,
            outcomes=Outcomes(parts.database),
            search=BattleSearch(parts.database),
            doubts=Doubts(parts.database),
            labels=LabelCounts(parts.database),
            intake=Intake(battles, PendingVotes(parts.database), publish, admission, parts.entry),
            ratings=RatingsClient(channel, Lens(parts.pipeline.nugget_lens), sign=access.signature),
            followers=followers,
            readiness=readiness(parts.bus, parts.database, admission),
            costs=Costs(parts.database),
            models=models,
            access=access,
            families=parts.pipeline.model_families,
        )
        tail = Tail.of(parts.database, gateway)
        hosts = AllowedHosts.of((parts.host, *parts.allowed_hosts))
        graders = parts.platform.declared_graders
        further = further_routes(gateway, parts.bus, parts.database, access, graders, tail=tail)
        app = create_app(gateway, hosts, *further, sites=parts.access.sites)
        async with tail.listening(parts.bus), http_server(app, parts.host, parts.http_port) as url:
            stages = [ingest_stage(gateway.intake, parts.blobs)]
            watch = consumer_watch(parts.bus)
            yield Service("gateway", stages, [arena_service(gateway, tail)], [usage.run, watch.run], url=url)
