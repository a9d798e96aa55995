"""Edits of nugget lists by people: over HTTP, from the edit to the board."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import BankVersion, Grounding, Support
from nuggetstream.domain.pipeline import Stage
from services.assigner.stage import Assigner
from services.judge.registry import heuristics
from services.offline.answers import ParsedPrompt, answer
from services.runtime.bus import Bus
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply, NuggetSupport, VerdictReply
from services.store.battles.deletion import Deletions
from services.store.database import Database
from services.store.outcomes.label_agreement import LabelCounts
from tests.e2e.processes import run_here
from tests.fakes import ScriptedModel, blocks
from tests.integration.gateway.world import LABELS, NOW, NUGGETS, Story, World, battle, opened
from tests.panels import panel_of

SUN = "The Sun adds spring tides twice a month."


def edit(*operations: Mapping[str, Any], version: int = 1, **changes: str) -> dict[str, Any]:
    who = {"author": "Ada", "reason": "The list lacked a fact."} | changes
    return {"version": version, **who, "operations": list(operations)}


def add(text: str, importance: str = "vital") -> dict[str, str]:
    return {"op": "add", "text": text, "importance": importance}


async def scored(world: World, story: Story | None = None) -> Story:
    story = story or Story(battle())
    await world.happens(*story.told())
    return story


async def patched(world: World, body: Mapping[str, Any], status: int = 202) -> dict[str, Any]:
    reply = await world.http.patch("/v1/battles/tides/nuggets", json=body)
    assert reply.status_code == status, reply.text
    return dict(reply.json())


async def shown(world: World) -> dict[str, Any]:
    return dict((await world.http.get("/v1/battles/tides")).json())


def states_in_b() -> ScriptedModel:
    """Labels nuggets as stated by the answer that speaks of spring tides."""

    def label(prompt: Prompt[Any]) -> AssignmentReply:
        (answer,) = blocks(prompt, "answer")
        stated = "support" if "spring" in answer.text else "not_support"
        return AssignmentReply(
            labels=[NuggetSupport(id=block.id, label=stated) for block in blocks(prompt, "nugget")]
        )

    return ScriptedModel({"assignment": label})


async def labelled(world: World, model: ScriptedModel) -> events.BattleAssigned:
    """Let the assigner label what was published last."""
    nuggetized = (await world.published())[-1]
    assert isinstance(nuggetized, events.BattleNuggetized)
    (assigned,) = await Assigner(model)(nuggetized)
    assert isinstance(assigned, events.BattleAssigned)
    await world.happens(nuggetized, assigned)
    return assigned


async def test_an_edit_asks_for_new_labels_only_and_replaces_scores_and_outcome_once(world: World) -> None:
    await scored(world)
    before = await shown(world)
    assert (before["nugget_version"], before["nugget_verdict"]["preference"]) == (1, "a")
    assert before["nugget_edits"] == []
    operations = [
        add(SUN),
        {"op": "delete", "nugget": "n2"},
        {"op": "importance", "nugget": "n4", "importance": "vital"},
    ]
    made = await patched(world, edit(*operations))
    assert (made["version"], made["based_on"], made["author"]) == (2, 1, "Ada")
    assert (await shown(world))["state"] == "running"
    assert (await shown(world))["nugget_version"] == 1  # until the labels of version 2 are there

    model = states_in_b()
    assigned = await labelled(world, model)
    assert [[block.text for block in blocks(prompt, "nugget")] for prompt in model.asked] == [[SUN]] * 2
    await world.happens(assigned)  # delivered twice
    after = await shown(world)
    assert (after["state"], after["nugget_version"], after["nugget_verdict"]["preference"]) == (
        "scored",
        2,
        "b",
    )
    assert {nugget["text"] for nugget in after["nuggets"]} == {
        NUGGETS[0].text,
        NUGGETS[2].text,
        NUGGETS[3].text,
        SUN,
    }
    outcomes = {o.source: o for o in await world.gateway.outcomes.of_battle("tides")}
    assert (outcomes["nugget"].winner, outcomes["nugget"].list_version) == (Vote.B, 2)
    counts = await world.gateway.outcomes.lens_counts("demo", Lens.NUGGET)
    assert (counts.outcomes, counts.decided) == (1, 1)
    assert outcomes["judge:pairwise"].winner is Vote.A


async def test_new_texts_get_a_grounding(world: World) -> None:
    story = await scored(world)
    source = story.retrieved().evidence[0].text
    await patched(world, edit(add(source), add("The Moon is made of cheese.")))
    nuggetized = (await world.published())[-1]
    assert isinstance(nuggetized, events.BattleNuggetized)
    found = {nugget.text: nugget.grounding for nugget in nuggetized.nugget_list.nuggets}
    assert found[source] is Grounding.GROUNDED
    assert found["The Moon is made of cheese."] is None  # neither a source nor an answer speaks of it


async def test_labels_of_an_older_list_that_come_late_change_nothing(world: World) -> None:
    story = await scored(world)
    await patched(world, edit(add(SUN)))
    await labelled(world, states_in_b())
    late = replace(story.assigned(), key="of an earlier run")
    await world.happens(late)
    assert (await shown(world))["nugget_version"] == 2
    (outcome,) = [o for o in await world.gateway.outcomes.of_battle("tides") if o.lens is Lens.NUGGET]
    assert outcome.list_version == 2


async def test_a_guided_verdict_about_an_older_list_that_comes_late_changes_nothing(world: World) -> None:
    def prefers(winner: str) -> ScriptedModel:
        text = battle().answer(Side(winner)).text

        def reply(prompt: Prompt[Any]) -> VerdictReply:
            shown_first = next(block.text for block in blocks(prompt, "answer"))
            return VerdictReply(reasoning="So.", winner="first" if shown_first == text else "second")

        return ScriptedModel({"verdict_guided": reply})

    async def judged(event: events.BattleAssigned, winner: str) -> events.BattleJudged:
        judge = panel_of("nugget_guided", prefers(winner))
        (verdict,) = await judge(event)
        assert isinstance(verdict, events.BattleJudged)
        return verdict

    story = await scored(world)
    await patched(world, edit(add(SUN)))
    of_edited = await judged(await labelled(world, states_in_b()), "b")
    await world.happens(of_edited, await judged(story.assigned(), "a"))
    (verdict,) = (await shown(world))["guided"]
    assert (verdict["winner"], verdict["nugget_version"]) == ("b", 2)
    (outcome,) = [o for o in await world.gateway.outcomes.of_battle("tides") if o.lens is Lens.GUIDED]
    assert (outcome.winner, outcome.list_version) == (Vote.B, 2)


async def test_grades_about_an_older_list_that_come_late_change_nothing(world: World) -> None:
    def offline(prompt: Prompt[Any]) -> object:
        parsed = ParsedPrompt.read(prompt.messages()[1]["content"], None)
        return answer(prompt.task, parsed, heuristics)

    async def graded(event: events.BattleAssigned) -> events.BattleGraded:
        grader = panel_of("second_assigner", ScriptedModel({"second_assignment": offline}))
        (grades,) = await grader(event)
        assert isinstance(grades, events.BattleGraded)
        return grades

    story = await scored(world)
    await patched(world, edit(add(SUN)))
    of_edited, of_first = await graded(await labelled(world, states_in_b())), await graded(story.assigned())
    await world.happens(of_first, of_edited)
    shown_before = (await shown(world))["gradings"]
    (counted_before,) = await LabelCounts(world.database).of_arena("demo")
    assert sum(counted_before.counts.values()) == 2 * (len(NUGGETS) + 1)
    for late in (replace(of_first, key="late"), replace(of_first, key="later")):
        await world.happens(late)
    assert (await shown(world))["gradings"] == shown_before
    assert await LabelCounts(world.database).of_arena("demo") == [counted_before]


async def test_the_history_says_who_changed_what_and_why(world: World) -> None:
    await scored(world)
    merge = {"op": "merge", "nuggets": ["n1", "n2"], "text": "Two bulges rise, and the Earth turns below."}
    await patched(world, edit(merge, {"op": "delete", "nugget": "n4"}, author="Grace", reason="One fact."))
    (change,) = (await shown(world))["nugget_edits"]
    assert (change["author"], change["reason"], change["version"]) == ("Grace", "One fact.", 2)
    assert change["changes"] == [
        {
            "op": "merge",
            "before": [NUGGETS[0].text, NUGGETS[1].text],
            "after": merge["text"],
            "importance": "vital",
            "model": None,
            "label": None,
        },
        {
            "op": "delete",
            "before": [NUGGETS[3].text],
            "after": None,
            "importance": None,
            "model": None,
            "label": None,
        },
    ]
    page = (await world.http.get("/battles/tides")).text
    said = page.partition('<details id="nugget-edits">')[2].partition("</details>")[0]
    assert "Grace" in said
    assert "One fact." in said
    assert "its labels are not there yet" in said


async def test_all_nuggets_are_labelled_again_by_the_model_that_a_person_names(world: World) -> None:
    await scored(world)
    before = await shown(world)
    url = ("--url", str(world.http.base_url))
    who = ("--author", "Ada", "--reason", "I doubt the labels.", *url)
    code, text = await asyncio.to_thread(run_here, "nuggets", "reassign", "tides", "--model", "second", *who)
    assert (code, text.splitlines()) == (0, ["reassign: by second", "version 2 is being labelled"])
    assert (await shown(world))["label_model"] == before["label_model"]  # until the new labels are there
    nuggetized = (await world.published())[-1]
    assert isinstance(nuggetized, events.BattleNuggetized)
    assert (nuggetized.labels, nuggetized.label_model) == (None, "second")
    other = replace(states_in_b(), name="second")

    async def models_of(name: str) -> tuple[ScriptedModel, None]:
        assert name == "second"
        return other, None

    (assigned,) = await Assigner(ScriptedModel({}), models_of=models_of)(nuggetized)
    await world.happens(nuggetized, assigned)
    after = await shown(world)
    assert (after["nugget_version"], after["label_model"]) == (2, "second-2026")
    assert [nugget["id"] for nugget in after["nuggets"]] == [nugget["id"] for nugget in before["nuggets"]]
    assert after["nugget_verdict"]["preference"] != before["nugget_verdict"]["preference"]
    (edited,) = after["nugget_edits"]
    assert (edited["author"], edited["reason"]) == ("Ada", "I doubt the labels.")
    assert [(change["op"], change["model"]) for change in edited["changes"]] == [("reassign", "second")]
    page = (await world.http.get("/battles/tides")).text
    assert "Labelled all nuggets again by <bdi>second</bdi>" in page
    assert "Labels by <bdi>second-2026</bdi>" in page
    code, text = await asyncio.to_thread(run_here, "nuggets", "show", "tides", *url)
    assert (code, text.splitlines()[0]) == (0, "version 2, labels by second-2026")


async def test_an_edit_based_on_an_older_version_is_rejected(world: World) -> None:
    await scored(world)
    await patched(world, edit(add(SUN)))
    problem = await patched(world, edit(add("Another fact.")), 409)
    assert "still running" in problem["error"]
    await labelled(world, states_in_b())
    problem = await patched(world, edit(add("Another fact.")), 409)
    assert "has version 2, and the edit is based on version 1" in problem["error"]
    assert (await patched(world, edit(add("Another fact."), version=2)))["version"] == 3


async def test_the_same_edit_sent_again_is_the_same_edit(world: World) -> None:
    await scored(world)
    first = await patched(world, edit(add(SUN)))
    count = len(await world.published())
    assert await patched(world, edit(add(SUN))) == first
    assert len(await world.published()) == count  # the broker has the message already
    await labelled(world, states_in_b())
    assert await patched(world, edit(add(SUN))) == first
    assert len((await shown(world))["nugget_edits"]) == 1


async def test_an_edit_whose_labels_failed_can_be_replaced_or_retried(world: World) -> None:
    story = await scored(world)
    await patched(world, edit(add("A text that the model declines.")))
    await world.happens(replace(story.failed(Stage.ASSIGNER), key="declined"))
    now = await shown(world)
    assert (now["state"], now["nugget_version"]) == ("partial", 1)
    assert [step["state"] for step in now["steps"] if step["name"] == "assigner"] == ["failed"]
    made = await patched(world, edit(add(SUN)))
    assert (made["version"], made["based_on"]) == (3, 1)
    assigned = await labelled(world, states_in_b())
    assert [nugget.text for nugget in assigned.nugget_list.nuggets if nugget.text == SUN] == [SUN]
    assert (await shown(world))["state"] == "scored"


async def test_a_list_of_a_bank_belongs_to_its_battle_alone_once_edited(world: World) -> None:
    story = Story(battle())
    told = story.told()
    assigned = story.assigned()
    shared = replace(assigned.nugget_list, bank=BankVersion("bank", 4))
    told[4] = replace(story.nuggetized(), nugget_list=shared)
    told[5] = replace(assigned, nugget_list=shared)
    await world.happens(*told)
    await patched(world, edit(add(SUN)))
    await labelled(world, states_in_b())
    now = await shown(world)
    assert now["nugget_bank"] is None
    assert now["nugget_edits"][0]["left"] == {"bank": "bank", "version": 4}
    assert "has a list of its own" in (await world.http.get("/battles/tides")).text


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (edit(), "operations: there is nothing to change"),
        (edit(add(" ")), "operations.0: the text is empty"),
        (edit(add("x" * 2001)), "at most 2,000"),
        (edit(add("x\x00y")), "cannot be stored"),
        (edit(add(SUN), author=" "), "author: is empty"),
        (edit(add(SUN), reason=""), "reason: is empty"),
        (edit({"op": "reword", "nugget": "n1"}), "operations.0.reword.text"),
        (edit({"op": "explode"}), "operations.0"),
        (edit({"op": "reassign", "model": " "}), "operations.0: the model is empty"),
        (edit({"op": "reassign", "model": "m" * 101}), "the model has 101 characters"),
        (edit({"op": "reassign"}, {"op": "reassign", "model": "m"}), "name one model"),
        (edit(add(SUN) | {"colour": "red"}), "operations.0.add.colour"),
        (edit({"op": "delete", "nugget": "n9"}), "operations.0: the list has no nugget 'n9'"),
    ],
)
async def test_an_edit_that_is_not_valid_names_the_field(
    world: World, body: dict[str, Any], problem: str
) -> None:
    await scored(world)
    problems = (await patched(world, body, 422))["problems"]
    assert any(problem in line for line in problems), problems
    assert (await shown(world))["state"] == "scored"


async def test_unknown_battles_and_battles_without_a_list_are_not_edited(world: World) -> None:
    await patched(world, edit(add(SUN)), 404)
    story = Story(battle())
    await world.happens(*story.told()[:4], story.failed(Stage.NUGGETIZER), story.judged())
    assert "no nugget list" in (await patched(world, edit(add(SUN)), 409))["error"]
    reply = await world.http.get("/v1/battles/tides/nuggets")
    assert (reply.status_code, reply.headers["allow"]) == (405, "PATCH")


async def test_only_administrators_edit(bus: Bus, record: Database) -> None:
    async with opened(bus, record, admin_token="secret") as world:
        await scored(world)
        await patched(world, edit(add(SUN)), 403)
        page = (await world.http.get("/battles/tides")).text
        assert "<textarea" not in page
        assert 'href="/battles/tides?edit=#nugget-list"' in page
        assert 'type="password" name="token"' in (await world.http.get("/battles/tides?edit=")).text
        form = {"version": "1", "author": "x", "reason": "y", "new text": SUN, "new importance": "vital"}
        for token in ({}, {"token": "wrong"}):
            assert (await world.http.post("/battles/tides/nuggets", data=form | token)).status_code == 403
        accepted = await world.http.post("/battles/tides/nuggets", data=form | {"token": "secret"})
        assert (accepted.status_code, accepted.headers["location"]) == (303, "/battles/tides#nuggets")
        assert len((await shown(world))["nugget_edits"]) == 1


async def test_the_form_makes_operations_of_what_differs(world: World) -> None:
    await scored(world)
    form = {"version": "1", "author": "Ada", "reason": "Better.", "new text": "", "new importance": "okay"}
    for nugget in NUGGETS:
        form |= {f"text {nugget.id}": nugget.text, f"importance {nugget.id}": nugget.importance.value}
    nothing = await world.http.post("/battles/tides/nuggets", data=form)
    assert (nothing.status_code, "nothing was changed" in nothing.text) == (422, True)
    changes = {"text n1": "Two bulges\r\nrise.", "do n2": "into n3", "do n4": "delete"}
    foreign = {"origin": "https://evil.example"}
    rejected = await world.http.post("/battles/tides/nuggets", data=form | changes, headers=foreign)
    assert rejected.status_code == 403
    assert (await world.http.post("/battles/tides/nuggets", data=form | changes)).status_code == 303
    (made,) = (await shown(world))["nugget_edits"]
    assert [(change["op"], change["after"]) for change in made["changes"]] == [
        ("reword", "Two bulges rise."),
        ("delete", None),
        ("merge", NUGGETS[2].text),
    ]
    outdated = await world.http.post("/battles/tides/nuggets", data=form | {"version": "7"})
    assert outdated.status_code == 409


async def test_edits_are_deleted_with_their_battle(world: World) -> None:
    await scored(world)
    await patched(world, edit(add(SUN)))
    await labelled(world, states_in_b())
    await Deletions(world.database).delete("tides", NOW)
    assert await world.gateway.battles.edits_of("tides") == []


async def test_a_nugget_without_a_new_text_keeps_label_and_quote(world: World) -> None:
    await scored(world)
    await patched(world, edit(add(SUN)))
    assigned = await labelled(world, states_in_b())
    kept = [a for a in assigned.assignment_set.assignments if a.nugget_id in {n.id for n in NUGGETS}]
    assert sorted(kept, key=str) == sorted(LABELS, key=str)
    (of_b,) = [a for a in assigned.assignment_set.assignments if a.side is Side.B and a not in kept]
    assert of_b.support is Support.SUPPORT


async def test_the_command_shows_numbers_and_edits_by_them(world: World) -> None:
    await scored(world)
    url = ("--url", str(world.http.base_url))
    code, text = await asyncio.to_thread(run_here, "nuggets", "show", "tides", *url)
    assert code == 0
    assert text.splitlines()[:2] == [
        "version 1, labels by offline-heuristic",
        f"  1  vital  {NUGGETS[0].text}  [A support, B partial support]",
    ]
    who = ("--author", "Ada", "--reason", "Checked.", *url)
    changes = ("--reword", "1", "Two bulges.", "--merge", "3", "2", "--delete", "4", "--add", "vital", SUN)
    command = ("nuggets", "edit", "tides", "--version")
    code, text = await asyncio.to_thread(run_here, *command, "1", *changes, *who)
    assert (code, text.splitlines()[-1]) == (0, "version 2 is being labelled")
    assigned = await labelled(world, states_in_b())
    assert {nugget.text for nugget in assigned.nugget_list.nuggets} == {"Two bulges.", NUGGETS[1].text, SUN}
    for arguments, status, problem in (
        (("1", "--delete", "1"), 1, "the list has version 2, not 1"),
        (("2", "--delete", "9"), 2, "there is no nugget 9"),
        (("2",), 2, "say what to change"),
        (("2", "--add", "vital", " "), 1, "the text is empty"),
    ):
        code, text = await asyncio.to_thread(run_here, *command, *arguments, *who)
        assert (code, problem in text) == (status, True), text
    code, text = await asyncio.to_thread(run_here, "nuggets", "show", "tides", *url)
    assert "by Ada: Checked." in text
