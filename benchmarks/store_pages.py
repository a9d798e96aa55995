"""The gateway's pages over the data of `benchmarks.store`, asked as a browser asks.

database  ->  the rater behind gRPC, the gateway's application in this process  ->  GET
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from types import SimpleNamespace
from typing import cast

import httpx2

from services.access.keys import Keys, Policy
from services.access.limits import Rates
from services.access.rpc_guard import RpcGuard
from services.access.signing import signature
from services.gateway.app import create_app
from services.gateway.health import Draining
from services.gateway.ports import Gateway
from services.gateway.ratings.client import RatingsClient
from services.rater.boards import Boards
from services.rater.grpc_service import ratings_service
from services.runtime import rpc
from services.store.access.api_keys import ApiKeys
from services.store.access.audit_log import AuditLog
from services.store.battles.battle_search import BattleSearch
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcomes import Outcomes


@asynccontextmanager
async def pages(database: Database, boards: Boards) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the gateway's pages; the gateway has what pages of boards and lists read, and no broker."""
    keys = Keys(ApiKeys(database), Policy(None))
    guard = RpcGuard(keys, Rates(), AuditLog(database), trusts_platform=True)
    async with (
        rpc.serve("127.0.0.1:0", [ratings_service(boards, guard)]) as port,
        rpc.channel(f"127.0.0.1:{port}") as channel,
    ):
        parts = SimpleNamespace(
            battles=Battles(database),
            outcomes=Outcomes(database),
            search=BattleSearch(database),
            ratings=RatingsClient(channel, sign=partial(signature, keys)),
            access=None,
            families={},
            readiness=None,
            draining=Draining(),
            models=None,
            intake=None,
        )
        for name in ("arenas", "biases", "is_offline", "listed", "searched", "summaries"):
            setattr(parts, name, partial(getattr(Gateway, name), parts))
        transport = httpx2.ASGITransport(app=create_app(cast(Gateway, parts)))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            yield client
