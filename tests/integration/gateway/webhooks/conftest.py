"""Webhooks on both databases, without a broker: dispatchers then look for events every two seconds."""

import pytest

from nuggetstream.domain.lens import Lens
from nuggetstream.views.battles import BattleView
from services.gateway.battles.assembly import assemble
from services.gateway.errors import UnknownBattle
from services.gateway.stream.reading import EventReader
from services.store.battles.battles import Battles
from services.store.database import Database
from tests.integration.store.conftest import database as database  # noqa: PLC0414 - fixtures
from tests.integration.store.conftest import database_url as database_url  # noqa: PLC0414


@pytest.fixture
def reader(database: Database) -> EventReader:
    """Reads events, and the ends of battles, as a gateway does."""
    battles = Battles(database)

    async def view(battle_id: str) -> BattleView:
        whole = await battles.whole(battle_id)
        if whole is None:
            raise UnknownBattle(battle_id)
        return assemble(whole.row, whole.body, whole.events, Lens.NUGGET)

    return EventReader(battles, view)
