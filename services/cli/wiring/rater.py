"""The wiring of the rater."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nuggetstream.ratings.ties import TiePolicy
from services.cli.wiring.access_parts import rater_guard
from services.cli.wiring.parts import Parts
from services.rater.announcer import Announcer
from services.rater.boards import Boards
from services.rater.grpc_service import ratings_service
from services.runtime.service import Service
from services.store.battles.battles import Battles
from services.store.outcomes.outcomes import Outcomes
from services.wire.publishing import publisher


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The rater: rates systems, and announces that boards changed."""
    outcomes, battles = Outcomes(parts.database), Battles(parts.database)
    announcer = Announcer(outcomes=outcomes, publish=publisher(parts.bus, parts.blobs))
    policy = TiePolicy(parts.pipeline.tie_policy)
    boards = Boards(outcomes=outcomes, battles=battles, policy=policy)
    async with announcer.listening(parts.bus):
        rpcs = [ratings_service(boards, rater_guard(parts))]
        yield Service(name="rater", rpcs=rpcs, background=[announcer.run])
