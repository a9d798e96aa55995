"""Run in a copy of the tree with the new field: it survives every way in, every stage and every way out."""

from pathlib import Path
from typing import cast

import httpx2
from arena.v1 import arena_pb2, battle_pb2

from nuggetstream.client import AsyncClient
from nuggetstream.domain.event import BattleAssigned
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.submission import parse_submission
from services.cli.wiring.embedded import Choices, Embedded, embedded
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.runtime.bus import Outgoing
from services.runtime.llm.settings import LLMSettings
from services.store.battles.battles import Battles
from services.wire.codec import decode
from services.wire.convert import to_message
from services.wire.subjects import INGEST
from tests.e2e.battles import battle

COUNTRY = {"country": "DE"}


async def country_after_all_stages(platform: Embedded, battle_id: str) -> str | None:
    """The country in the last event of the branch of nuggets, as it is in the database."""
    recorded = await Battles(platform.database).events_of(battle_id)
    [last] = [event for event in recorded if event.name == "assigned"]
    return cast(BattleAssigned, decode(last.schema, last.body)).battle.country


async def test_the_new_field_survives(tmp_path: Path) -> None:
    pipeline = PipelineSettings(embedding_model="none")
    choices = Choices(folder=tmp_path, pipeline=pipeline, fetch=FetchSettings(), llm=LLMSettings(), grace=2.0)
    async with embedded(choices) as platform, AsyncClient(platform.url) as client:
        view = await client.submit_and_wait(battle(1, **COUNTRY))
        sent = to_message(parse_submission(battle(2, **COUNTRY)).to_core(), battle_pb2.Battle)
        request = arena_pb2.SubmitBattleRequest(battle=sent)
        body = request.SerializeToString()
        await platform.bus.publish(Outgoing(INGEST, "two", "arena.v1.SubmitBattleRequest", body))
        ended = (streamed.event async for streamed in client.stream(after=0, kind=["ended"]))
        ids = {(await anext(ended)).battle_id, (await anext(ended)).battle_id}
        countries = {await country_after_all_stages(platform, battle_id) for battle_id in ids}
        async with httpx2.AsyncClient(base_url=platform.url, timeout=90) as http:
            page = (await http.get(f"/battles/{view.id}")).text
    assert view.country == BattleRow.model_validate_json(view.model_dump_json()).country == "DE"
    assert (ids, countries) == ({"battle-001", "battle-002"}, {"DE"})
    assert '<span class="tag">DE</span>' in page
