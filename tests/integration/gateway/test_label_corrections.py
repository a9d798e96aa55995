"""Labels that people correct: over HTTP, from the edit to the board, on SQLite and on PostgreSQL."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Support
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.views.battles import BattleView
from services.access.callers import Role
from services.assigner.stage import Assigner
from services.runtime.bus import Bus
from services.store.database import Database
from tests.e2e.processes import run_here
from tests.fakes import ScriptedModel, blocks
from tests.integration.gateway.access.samples import bearer, issued
from tests.integration.gateway.battles.test_event_schema import validator
from tests.integration.gateway.battles.test_following import frames
from tests.integration.gateway.test_nugget_edits import (
    SUN,
    add,
    edit,
    labelled,
    patched,
    scored,
    shown,
    states_in_b,
)
from tests.integration.gateway.world import LABELS, NUGGETS, Story, World, battle, opened
from tests.integration.store.conftest import database as database  # noqa: PLC0414 - fixtures
from tests.integration.store.conftest import database_url as database_url  # noqa: PLC0414

NOBODY = ScriptedModel({})  # a model that has no reply to any question


@pytest.fixture
def record(database: Database) -> Database:
    """A database of each kind in turn, with every table."""
    return database


def label(nugget: str, answer: str, to: str) -> dict[str, str]:
    return {"op": "label", "nugget": nugget, "answer": answer, "to": to}


def of(view: Mapping[str, Any], nugget: str, side: str) -> dict[str, Any]:
    [found] = [each for each in view["nuggets"] if each["id"] == nugget]
    return dict(found[side])


IN_B = label("n2", "b", "support")


async def test_a_corrected_label_replaces_the_outcome_once_and_asks_no_model(world: World) -> None:
    await scored(world)
    assert (await shown(world))["nugget_verdict"]["preference"] == "a"
    made = await patched(world, edit(IN_B, reason="It says so."))
    assert (made["version"], [change["label"] for change in made["changes"]]) == (
        2,
        [{"answer": "b", "before": "not_support", "after": "support"}],
    )
    model = ScriptedModel({})
    assigned = await labelled(world, model)
    assert model.asked == []
    kept = [each for each in assigned.assignment_set.assignments if each.correction is None]
    assert set(LABELS) - set(kept) == {each for each in LABELS if (each.nugget_id, each.side) == ("n2", "b")}
    await world.happens(assigned)  # delivered twice
    now = await shown(world)
    assert (now["state"], now["nugget_version"], now["nugget_verdict"]["preference"]) == ("scored", 2, "b")
    assert now["label_model"] == "offline-heuristic"
    corrected = of(now, "n2", "b")
    assert (corrected["support"], corrected["cause"]) == ("support", None)
    assert corrected["set_by"] == {"author": "Ada", "reason": "It says so.", "model": "not_support"}
    assert of(now, "n2", "a")["set_by"] is None
    [entry] = now["nugget_edits"]
    assert (entry["author"], entry["reason"], entry["changes"]) == ("Ada", "It says so.", made["changes"])
    outcomes = [o for o in await world.gateway.outcomes.of_battle("tides") if o.lens is Lens.NUGGET]
    assert [(outcome.winner, outcome.list_version) for outcome in outcomes] == [(Vote.B, 2)]
    counts = await world.gateway.outcomes.lens_counts("demo", Lens.NUGGET)
    assert (counts.outcomes, counts.decided) == (1, 1)
    page = (await world.http.get("/battles/tides")).text
    assert "set by <bdi>Ada</bdi>: <bdi>It says so.</bdi>; the model said “misses it”" in page
    assert "for answer B from “misses it” to “states it”" in page
    framed = (await world.http.get("/embed/battles/tides")).text
    assert framed.count("set by <bdi>Ada</bdi>; the model said “misses it”") == 1


async def test_the_event_of_the_labels_says_which_of_them_people_set(world: World) -> None:
    await scored(world)
    await patched(world, edit(IN_B))
    await labelled(world, NOBODY)
    async with world.http.stream("GET", "/v1/battles/tides/events") as response:
        told = [json.loads(frame["data"]) async for frame in frames(response)]
    before, after = [event for event in told if event["kind"] == "assigned"]
    assert before["set_by"] == []
    assert after["set_by"] == [{"id": "n2", "answer": "b", "author": "Ada", "model": "not_support"}]
    for event in (before, after):
        validator().validate(event)


async def test_a_correction_sent_again_is_the_same_one(world: World) -> None:
    await scored(world)
    first = await patched(world, edit(IN_B))
    count = len(await world.published())
    assert await patched(world, edit(IN_B)) == first
    await labelled(world, NOBODY)
    assert await patched(world, edit(IN_B)) == first
    assert len(await world.published()) == count
    assert len((await shown(world))["nugget_edits"]) == 1


async def test_labels_of_people_stay_in_later_edits_unless_the_text_changes(world: World) -> None:
    await scored(world)
    await patched(world, edit(IN_B, label("n1", "a", "contradiction")))
    await labelled(world, NOBODY)
    await patched(world, edit(add(SUN), {"op": "reword", "nugget": "n1", "text": "Two bulges."}, version=2))
    model = states_in_b()
    await labelled(world, model)
    assert [{block.text for block in blocks(prompt, "nugget")} for prompt in model.asked] == [
        {SUN, "Two bulges."}
    ] * 2
    now = await shown(world)
    assert of(now, "n2", "b")["set_by"]["author"] == "Ada"
    [reworded] = [each for each in now["nuggets"] if each["text"] == "Two bulges."]
    assert (reworded["a"]["set_by"], reworded["a"]["support"]) == (None, "not_support")


async def test_when_all_labels_are_asked_for_again_those_of_people_stay(world: World) -> None:
    await scored(world)
    await patched(world, edit(IN_B))
    await labelled(world, NOBODY)
    await patched(world, edit({"op": "reassign", "model": "second"}, version=2))
    nuggetized = (await world.published())[-1]
    assert isinstance(nuggetized, events.BattleNuggetized)
    second = replace(states_in_b(), name="second")

    async def models_of(name: str) -> tuple[ScriptedModel, None]:
        return second, None

    (assigned,) = await Assigner(NOBODY, models_of=models_of)(nuggetized)
    await world.happens(nuggetized, assigned)
    asked = [[block.text for block in blocks(prompt, "nugget")] for prompt in second.asked]
    texts = [nugget.text for nugget in NUGGETS]
    assert sorted(asked) == sorted([texts, [text for text in texts if text != NUGGETS[1].text]])
    now = await shown(world)
    assert (now["label_model"], now["nugget_version"]) == ("second-2026", 3)
    assert of(now, "n2", "b")["set_by"]["model"] == "not_support"
    assert of(now, "n2", "a")["set_by"] is None


async def test_setting_what_the_model_said_withdraws_the_correction(world: World) -> None:
    await scored(world)
    await patched(world, edit(label("n1", "a", "not_support")))
    await labelled(world, NOBODY)
    corrected = of(await shown(world), "n1", "a")
    assert (corrected["quote"], corrected["set_by"]["model"]) == (None, "support")
    await patched(world, edit(label("n1", "a", "support"), version=2))
    restored = await labelled(world, NOBODY)
    assert sorted(restored.assignment_set.assignments, key=str) == sorted(LABELS, key=str)


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        (label("n9", "a", "support"), "operations.0: the list has no nugget 'n9'"),
        (label("n1", "c", "support"), "operations.0.label.answer"),
        (label("n1", "a", "maybe"), "operations.0.label.to"),
        (label("n1", "a", "support"), "operations.0: changes nothing"),
        ({"op": "label", "nugget": "n1", "answer": "a"}, "operations.0.label.to"),
    ],
)
async def test_a_correction_that_is_not_valid_names_the_field(
    world: World, operation: dict[str, str], problem: str
) -> None:
    await scored(world)
    problems = (await patched(world, edit(operation), 422))["problems"]
    assert any(problem in line for line in problems), problems
    assert (await shown(world))["nugget_edits"] == []


async def test_labels_of_an_empty_answer_and_of_a_list_without_labels_cannot_be_corrected(
    world: World,
) -> None:
    story = Story(battle(b={"system": "birch", "text": " ", "sources": []}))
    none = tuple(
        replace(each, support=Support.NOT_SUPPORT, quote=None) if each.side is Side.B else each
        for each in LABELS
    )
    told = story.told()
    told[5] = story.assigned(none)
    await world.happens(*told)
    [problem] = (await patched(world, edit(IN_B), 422))["problems"]
    assert "no label to correct for answer b: it is not labelled yet, or the answer is empty" in problem
    page = (await world.http.get("/battles/tides")).text
    assert ('name="label a n2"' in page, 'name="label b n2"' in page) == (True, False)


async def test_only_administrators_of_the_arena_correct_labels(bus: Bus, record: Database) -> None:
    async with opened(bus, record, key_lifetime=0.0) as world:
        await world.happens(*Story(battle()).told())
        statuses = {}
        for role, arena in ((Role.SUBMIT, "demo"), (Role.READ, "demo"), (Role.VOTE, "demo")):
            key = await issued(record, role, arenas=(arena,))
            headers = bearer(key)
            reply = await world.http.patch("/v1/battles/tides/nuggets", json=edit(IN_B), headers=headers)
            statuses[role] = reply.status_code
        assert statuses == dict.fromkeys((Role.SUBMIT, Role.READ, Role.VOTE), 403)
        reply = await world.http.patch("/v1/battles/tides/nuggets", json=edit(IN_B))
        assert reply.status_code == 401
        for arena, status in (("abroad", 404), ("demo", 202)):
            headers = bearer(await issued(record, Role.ADMIN, arenas=(arena,)))
            reply = await world.http.patch("/v1/battles/tides/nuggets", json=edit(IN_B), headers=headers)
            assert reply.status_code == status, reply.text


async def test_the_form_corrects_what_was_chosen_anew(world: World) -> None:
    await scored(world)
    form = {"version": "1", "author": "Ada", "reason": "Read again.", "label b n2": "support"}
    form |= {"label a n1": "support", "label a n2": "contradiction", "do n2": "keep"}
    assert (await world.http.post("/battles/tides/nuggets", data=form)).status_code == 303
    (made,) = (await shown(world))["nugget_edits"]
    assert {(change["label"]["answer"], change["label"]["after"]) for change in made["changes"]} == {
        ("a", "contradiction"),
        ("b", "support"),
    }


async def test_the_command_corrects_labels_and_shows_by_whom(world: World) -> None:
    await scored(world)
    url = ("--url", str(world.http.base_url))
    command = ("nuggets", "edit", "tides", "--version", "1", "--author", "Ada", "--reason", "Read again.")
    code, text = await asyncio.to_thread(run_here, *command, "--label", "2", "b", "support", *url)
    assert (code, text.splitlines()) == (
        0,
        [
            f"label: {NUGGETS[1].text}: not_support -> support for answer B",
            "version 2 is being labelled",
        ],
    )
    await labelled(world, NOBODY)
    code, text = await asyncio.to_thread(run_here, "nuggets", "show", "tides", *url)
    assert (code, "[A support, B support by Ada]" in text) == (0, True)
    code, text = await asyncio.to_thread(run_here, *command, "--label", "2", "c", "support", *url)
    assert (code, "'c' is not one of 'a', 'b'" in text) == (2, True)


async def test_results_carry_who_set_a_label(world: World) -> None:
    await scored(world)
    await patched(world, edit(IN_B))
    await labelled(world, NOBODY)
    now = await shown(world)
    row = BattleRow.model_validate(now | {"reference": {}})
    label_row = next(each for each in row.nuggets if each.id == "n2").b
    assert label_row is not None
    assert label_row.set_by is not None
    assert (label_row.set_by.author, label_row.set_by.model) == ("Ada", Support.NOT_SUPPORT)
    view = BattleView.model_validate(now)
    assert view.nuggets[0].a is not None
    assert view.nuggets[0].a.set_by is None
