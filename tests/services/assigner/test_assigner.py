"""Labels for every nugget and both answers, or no result at all."""

from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized
from nuggetstream.domain.nugget import Correction, Support
from nuggetstream.nuggets.scores import labels_of
from services.assigner.stage import Assigner
from services.runtime.errors import Permanent
from services.runtime.llm.assignment import PAPER_VERSION, VERSION
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply, NuggetSupport
from tests import samples
from tests.fakes import ScriptedModel, blocks

FULL, PART, NONE = Support.SUPPORT, Support.PARTIAL_SUPPORT, Support.NOT_SUPPORT


def literal(prompt: Prompt[Any]) -> AssignmentReply:
    """Support where the answer holds the nugget's last word, in the reverse order of the question."""
    (answer,) = blocks(prompt, "answer")
    labels = []
    for nugget in reversed(blocks(prompt, "nugget")):
        found = nugget.text.split()[-1] in answer.text.split()
        labels.append(NuggetSupport(id=nugget.id, label="support" if found else "not_support", first=1))
    return AssignmentReply(labels=labels)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel({"assignment": literal})


async def run(assigner: Assigner, event: BattleNuggetized) -> BattleAssigned:
    (out,) = await assigner(event)
    assert isinstance(out, BattleAssigned)
    return out


async def test_each_label_goes_to_the_nugget_and_the_side_it_is_about(model: ScriptedModel) -> None:
    event = samples.nuggetized(12, fought=samples.battle(a="0. 3. 11.", b="3."))
    out = await run(Assigner(model), event)
    for side, stated in ((Side.A, {"v0", "v3", "v11"}), (Side.B, {"v3"})):
        labels = labels_of(out.assignment_set.assignments, side)
        assert {nugget for nugget, label in labels.items() if label is FULL} == stated
        assert len(labels) == 12
    assert len(model.asked) == 2
    assert out.assignment_set.model == "scripted-2026"


async def test_windows_ask_in_parts_and_lose_nothing(model: ScriptedModel) -> None:
    event = samples.nuggetized(20, 3, samples.battle(a="0. 12. 19.", b="2."))
    whole, parts = await run(Assigner(model), event), await run(Assigner(model, window=10), event)
    assert parts.assignment_set.assignments == whole.assignment_set.assignments
    assert [len(blocks(prompt, "nugget")) for prompt in model.asked[2:]] == [10, 10, 3, 10, 10, 3]
    assert parts.key != whole.key


async def test_a_quote_is_kept_only_where_something_is_stated(model: ScriptedModel) -> None:
    out = await run(Assigner(model), samples.nuggetized(2, fought=samples.battle(a=" So 1. Or 7.", b="x")))
    assert [item.quote for item in out.assignment_set.assignments] == [None, "So 1.", None, None]


async def test_an_empty_answer_states_nothing_and_needs_no_call(model: ScriptedModel) -> None:
    out = await run(Assigner(model), samples.nuggetized(2, fought=samples.battle(a=" \n", b="0.")))
    assert set(labels_of(out.assignment_set.assignments, Side.A).values()) == {NONE}
    assert labels_of(out.assignment_set.assignments, Side.B) == {"v0": FULL, "v1": NONE}
    assert len(model.asked) == 1


async def test_two_empty_answers_need_no_model_at_all(model: ScriptedModel) -> None:
    out = await run(Assigner(model), samples.nuggetized(2, fought=samples.battle(a="", b="")))
    assert len(out.assignment_set.assignments) == 4
    assert out.assignment_set.model == "none: both answers are empty"
    assert model.asked == []


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (["n1"], "missing ids: n2"),
        (["n1", "n2", "n3"], "unknown ids: n3"),
        (["n1", "n2", "n2"], "repeated ids: n2"),
    ],
)
async def test_a_missing_label_is_not_a_zero(ids: list[str], problem: str) -> None:
    labels = [NuggetSupport(id=name, label="support") for name in ids]
    model = ScriptedModel({"assignment": lambda prompt: AssignmentReply(labels=labels)})
    with pytest.raises(ValueError, match=problem):
        await Assigner(model)(samples.nuggetized(2))


async def test_a_contradiction_is_a_label_with_the_sentence_that_contradicts() -> None:
    replies = AssignmentReply(labels=[NuggetSupport(id="n1", label="contradiction", first=2)])
    model = ScriptedModel({"assignment": lambda prompt: replies})
    event = samples.nuggetized(1, fought=samples.battle(a="It is cold. It costs 50 cents.", b=""))
    out = await run(Assigner(model), event)
    label = out.assignment_set.assignments[0]
    assert (label.support, label.quote) == (Support.CONTRADICTION, "It costs 50 cents.")
    assert "- c, contradiction:" in model.asked[0].instructions
    assert "n4 c 2" in model.asked[0].reply.form
    assert out.assignment_set.prompt_version.startswith(VERSION)


async def test_the_paper_profile_asks_for_three_labels_and_takes_no_fourth(model: ScriptedModel) -> None:
    paper = Assigner(model, contradictions=False)
    out = await run(paper, samples.nuggetized(2))
    assert "contradiction:" not in model.asked[0].instructions
    assert "c, n" not in model.asked[0].reply.form
    assert " c " not in model.asked[0].reply.form
    assert out.assignment_set.prompt_version.startswith(PAPER_VERSION)

    replies = AssignmentReply(labels=[NuggetSupport(id=name, label="contradiction") for name in ("n1", "n2")])
    with pytest.raises(ValueError, match="n1: the label must be s, p or n"):
        await Assigner(ScriptedModel({"assignment": lambda prompt: replies}), contradictions=False)(
            samples.nuggetized(2)
        )


def test_a_model_may_write_its_labels_as_it_likes() -> None:
    label = NuggetSupport.model_validate({"id": "n1", "label": "Partial Support"})
    assert Support(label.label) is PART


async def test_the_same_event_gives_the_same_and_another_model_or_prompt_another_key(
    model: ScriptedModel,
) -> None:
    event = samples.nuggetized(2)
    first = await run(Assigner(model), event)
    assert await run(Assigner(model), event) == first
    others = [replace(model, name="other"), replace(model, reworded=True)]
    keys = {(await run(Assigner(other), event)).key for other in others}
    assert len({first.key, *keys}) == 3


async def test_known_labels_of_an_edited_list_are_kept_and_only_others_are_asked_for(
    model: ScriptedModel,
) -> None:
    event = samples.nuggetized(3, fought=samples.battle(a="0. 2.", b="1."))
    first = await run(Assigner(model), event)
    kept = [item for item in first.assignment_set.assignments if item.nugget_id != "v2"]
    known = replace(first.assignment_set, assignments=tuple(kept), model="older", prompt_version="older-1")
    model.asked.clear()
    out = await run(Assigner(model, window=1), replace(event, key="edited", labels=known))
    assert [[block.text for block in blocks(prompt, "nugget")] for prompt in model.asked] == [
        ["Vital fact 2."]
    ] * 2
    assert out.assignment_set.assignments == first.assignment_set.assignments
    assert out.assignment_set.model == "older, scripted-2026"


async def test_the_model_that_a_person_named_labels_all_nuggets(model: ScriptedModel) -> None:
    event = samples.nuggetized(2, fought=samples.battle(a="0.", b="1."))
    first, other = await run(Assigner(model), event), replace(model, name="other", asked=[])
    named = list[str]()

    async def models_of(name: str) -> tuple[ScriptedModel, None]:
        named.append(name)
        return other, None

    model.asked.clear()
    again = replace(event, label_model="other")
    out = await run(Assigner(model, models_of=models_of), again)
    assert (named, len(model.asked), len(other.asked)) == (["other"], 0, 2)
    assert out.assignment_set.model == "other-2026"
    assert out.assignment_set.assignments == first.assignment_set.assignments
    assert out.key != first.key
    with pytest.raises(Permanent, match="cannot ask 'other'"):
        await run(Assigner(model), again)


async def test_a_list_whose_labels_are_all_known_needs_no_model(model: ScriptedModel) -> None:
    event = samples.nuggetized(2, fought=samples.battle(a="0.", b="1."))
    known = (await run(Assigner(model), event)).assignment_set
    model.asked.clear()
    out = await run(Assigner(model), replace(event, key="edited", labels=known))
    assert (out.assignment_set, model.asked) == (known, [])


async def test_labels_of_people_are_kept_when_all_are_asked_for_again(model: ScriptedModel) -> None:
    event = samples.nuggetized(2, fought=samples.battle(a="0.", b="1."))
    first = (await run(Assigner(model), event)).assignment_set
    of_people = tuple(
        replace(item, correction=Correction("Ada", "I read it.", item.by_model))
        for item in first.assignments
        if item.side is Side.A
    )
    known = replace(first, assignments=of_people, model="older", prompt_version="older-1")
    model.asked.clear()
    out = (await run(Assigner(model), replace(event, key="again", labels=known))).assignment_set
    assert len(model.asked) == 1  # about answer B alone
    assert [item for item in out.assignments if item.side is Side.A] == list(of_people)
    assert out.model == "older, scripted-2026"
    half = replace(known, assignments=of_people[:1])
    out = (await run(Assigner(model), replace(event, key="half", labels=half))).assignment_set
    assert (out.model, out.assignments[0]) == ("scripted-2026", of_people[0])
