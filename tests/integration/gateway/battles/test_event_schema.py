"""Every event that is sent has the form that is published, and carries no text that its battle has anyway."""

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import jsonschema

from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.events import KINDS, event_schema
from services.wire.codec import encode
from services.wire.subjects import event_name
from tests.integration.gateway.battles.test_following import frames
from tests.integration.gateway.world import Story, World, battle

DOCS = Path(__file__).parents[4] / "docs" / "events.md"


def validator() -> jsonschema.Draft202012Validator:
    """Checks events against the published schema, and that they have no further field."""
    schema = event_schema()
    for part in schema["$defs"].values():
        if part.get("type") == "object":
            part["additionalProperties"] = False
    return jsonschema.Draft202012Validator(schema)


async def sent(response: httpx2.Response) -> list[Any]:
    return [json.loads(frame["data"]) async for frame in frames(response)]


async def test_every_event_has_the_published_form(world: World) -> None:
    story = Story(battle())
    grading = Grading("answer_quality", "offline-heuristic", "1", (), ())
    graded = BattleGraded("graded:tides", "tides", "demo", grading)
    told = [story.submitted(), story.failed(Stage.GRADER), *story.told()[1:-1], story.voted(), graded]
    await world.happens(*told, story.judged())
    async with world.http.stream("GET", "/v1/battles/tides/events") as response:
        events = await sent(response)
    assert {event["kind"] for event in events} == {event_name(type(event)) for event in told} | {
        "judged",
        "ended",
    }
    for event in events:
        validator().validate(event)
    bodies = sum(len(encode(event)) for event in told)
    assert sum(len(json.dumps(event)) for event in events) < bodies  # although JSON writes names
    texts = [battle().a.text, battle().b.text, "Text of https://example.org/tides."]
    assert not [text for text in texts if text in json.dumps(events)]


async def test_the_schema_is_part_of_the_description_of_the_api(world: World) -> None:
    document = (await world.http.get("/openapi.json")).json()
    assert document["components"]["schemas"]["BattleEvent"]["discriminator"]["propertyName"] == "kind"
    assert {*document["components"]["schemas"]["BattleEvent"]["discriminator"]["mapping"]} == KINDS


def test_the_manual_has_every_field_of_every_event() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", DOCS.read_text("utf-8"), re.MULTILINE))
    parts = event_schema()["$defs"]
    common = set(parts["EndedEvent"]["properties"]) & set(parts["VotedEvent"]["properties"])
    assert set(rows) == KINDS
    for kind in KINDS:
        fields = set(parts[f"{kind.title()}Event"]["properties"]) - common
        assert set(re.findall(r"`(\w+)`", rows[kind])) >= fields, kind
