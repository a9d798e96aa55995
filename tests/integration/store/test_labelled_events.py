"""The events from which labels follow, of many battles at once, on both databases."""

from nuggetstream.domain.event import BattleAssigned, BattleRetrieved
from services.recorder.stage import Recorder
from services.store.battles.battles import Battles
from services.store.battles.labelled_events import LabelledEvents
from services.store.database import Database
from services.wire.codec import schema_of
from tests.integration.gateway.world import Story, battle


async def _deaf(*_: object) -> None:
    return None


async def test_the_events_are_those_of_each_battle_without_other_kinds(database: Database) -> None:
    battles = Battles(database)
    recorder = Recorder(battles, _deaf)
    for name in ("one", "two"):
        story = Story(battle(id=name))
        for event in [*story.told(), story.voted()]:
            await recorder(event)
    found = await LabelledEvents(database).of(["one", "two", "nobody"])
    assert set(found) == {"one", "two"}
    for name, stored in found.items():
        recorded = stored.values()
        kinds = [schema_of(kind) for kind in (BattleRetrieved, BattleAssigned)]
        assert [schema for schema, _ in recorded] == kinds
        whole = {event.schema: event.body for event in await battles.events_of(name)}
        assert [value for _, value in recorded] == [whole[kind] for kind in kinds]


async def test_a_battle_without_labels_has_no_events(database: Database) -> None:
    recorder = Recorder(Battles(database), _deaf)
    for event in Story(battle(id="one")).told()[:5]:
        await recorder(event)
    found = await LabelledEvents(database).of(["one"])
    assert found["one"].values() == []
