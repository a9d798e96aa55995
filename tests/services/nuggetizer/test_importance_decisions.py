"""Importance by decisions: who is vital, what is kept of probabilities, and what a refusal leaves."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from arena.v1 import nugget_pb2

from nuggetstream.domain.conversation import Role, Turn
from nuggetstream.domain.event import BattleNuggetized
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.nugget import Importance, NuggetList
from services.cli.wiring.nuggetizer import decides_importance
from services.cli.wiring.settings import PipelineSettings
from services.nuggetizer.creation import Draft, trim
from services.nuggetizer.decisions import VERSION
from services.nuggetizer.prompts import VERSION as LIST_VERSION
from services.nuggetizer.stage import Nuggetizer
from services.runtime.errors import Permanent
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import CreatedNugget, NuggetsReply
from services.runtime.llm.settings import LLMSettings
from services.wire.convert import from_message, to_message
from tests import samples
from tests.fakes import ScriptedModel, blocks

VITAL, OKAY = Importance.VITAL, Importance.OKAY
LISTED = (("Tea is a drink.", VITAL), ("Tea is made of leaves.", OKAY), ("Tea is hot.", OKAY))


def lister() -> ScriptedModel:
    nuggets = [CreatedNugget(text=text, importance=i.value, sources=["c1"]) for text, i in LISTED]
    return ScriptedModel({"nuggets": lambda _: NuggetsReply(nuggets=nuggets)}, name="writer")


def decider(told: Mapping[str, float | str | None]) -> ScriptedModel:
    """A model that decides by text: a probability of vital, a letter without one, or None for a refusal."""

    def reply(prompt: Prompt[Any]) -> DecisionReply:
        return DecisionReply(answers=[answer(b.id, told[b.text]) for b in blocks(prompt, "nugget")])

    def answer(name: str, said: float | str | None) -> Answer:
        if not isinstance(said, float):
            return Answer(name=name, letter=said)
        return Answer(name=name, letter="v" if said >= 0.5 else "o", probabilities={"v": said, "o": 1 - said})

    return ScriptedModel({"importance_decision": reply}, name="decider")


async def created(nuggetizer: Nuggetizer, **event: Any) -> BattleNuggetized:
    (out,) = await nuggetizer(samples.retrieved(**event))
    assert isinstance(out, BattleNuggetized)
    return out


def importance(listed: NuggetList) -> dict[str, tuple[Importance, float | None]]:
    return {nugget.text: (nugget.importance, nugget.vital_probability) for nugget in listed.nuggets}


async def test_one_request_asks_about_every_nugget_and_half_is_vital() -> None:
    chat = lister()
    model = decider({"Tea is a drink.": 0.49, "Tea is made of leaves.": 0.5, "Tea is hot.": 0.1})
    made = await created(Nuggetizer(chat, decisions=model))
    assert importance(made.nugget_list) == {
        "Tea is made of leaves.": (VITAL, 0.5), "Tea is a drink.": (OKAY, 0.49), "Tea is hot.": (OKAY, 0.1)
    }  # fmt: skip
    assert made.nugget_list.nuggets[0].importance is VITAL  # vital ones come first, as in every list
    assert (chat.tasks(), model.tasks(), model.battles) == (["nuggets"], ["importance_decision"], ["b1"])
    [prompt] = model.asked
    assert [question.name for question in prompt.questions] == ["n1", "n2", "n3"]
    assert [block.kind for block in prompt.blocks] == ["query", "nugget", "nugget", "nugget"]
    assert made.nugget_list.prompt_version == f"{LIST_VERSION}, {VERSION}"
    assert made.nugget_list.model == "writer-2026"


async def test_a_refusal_keeps_the_importance_of_the_list() -> None:
    model = decider({"Tea is a drink.": None, "Tea is made of leaves.": 0.8, "Tea is hot.": None})
    made = await created(Nuggetizer(lister(), decisions=model))
    assert importance(made.nugget_list) == {
        "Tea is a drink.": (VITAL, None), "Tea is made of leaves.": (VITAL, 0.8), "Tea is hot.": (OKAY, None)
    }  # fmt: skip


async def test_letters_without_probabilities_decide_too() -> None:
    model = decider({"Tea is a drink.": "o", "Tea is made of leaves.": "v", "Tea is hot.": "o"})
    made = await created(Nuggetizer(lister(), decisions=model))
    assert importance(made.nugget_list) == {
        "Tea is made of leaves.": (VITAL, None), "Tea is a drink.": (OKAY, None), "Tea is hot.": (OKAY, None)
    }  # fmt: skip


async def test_probabilities_survive_the_wire_and_are_absent_where_unknown() -> None:
    model = decider({"Tea is a drink.": 0.9, "Tea is made of leaves.": 0.0, "Tea is hot.": None})
    made = await created(Nuggetizer(lister(), decisions=model))
    message = to_message(made.nugget_list, nugget_pb2.NuggetList)
    read = nugget_pb2.NuggetList.FromString(message.SerializeToString())
    assert from_message(read, NuggetList) == made.nugget_list
    assert [nugget.HasField("vital_probability") for nugget in read.nuggets] == [True, True, False]


async def test_without_a_vital_nugget_the_battle_cannot_be_scored() -> None:
    model = decider({text: 0.2 for text, _ in LISTED})
    with pytest.raises(Permanent) as raised:
        await Nuggetizer(lister(), decisions=model)(samples.retrieved())
    assert raised.value.reason is Reason.NO_VITAL_NUGGET


async def test_a_missing_answer_is_no_importance() -> None:
    model = decider({text: 0.9 for text, _ in LISTED})
    whole = model.script["importance_decision"]

    def cut(prompt: Prompt[Any]) -> DecisionReply:
        return DecisionReply.model_validate({"answers": whole(prompt).model_dump()["answers"][:2]})

    with pytest.raises(ValueError, match="missing ids: n3"):
        await Nuggetizer(lister(), decisions=replace(model, script={"importance_decision": cut}))(
            samples.retrieved()
        )


async def test_the_question_shows_the_earlier_turns_of_the_user() -> None:
    turns = (Turn(Role.USER, "Tell me about drinks."), Turn(Role.ASSISTANT, "Which one?"))
    fought = replace(samples.battle(), conversation=turns)
    model = decider({text: 0.9 for text, _ in LISTED})
    await created(Nuggetizer(lister(), decisions=model), fought=fought)
    assert [block.text for block in blocks(model.asked[0], "turn")] == [turn.text for turn in turns]


async def test_decided_lists_have_other_ids_and_others_keep_theirs() -> None:
    base, model = Nuggetizer(lister()), decider({text: 0.9 for text, _ in LISTED})
    made = [
        await created(each)
        for each in (
            base,
            replace(base, decisions=model),
            replace(base, decisions=replace(model, name="another")),
            replace(base, decisions=replace(model, reworded=True)),
        )
    ]
    assert len({event.key for event in made}) == len(made)
    assert {nugget.vital_probability for nugget in made[0].nugget_list.nuggets} == {None}


def test_of_two_wordings_of_a_fact_the_vital_one_gives_importance_and_probability() -> None:
    merged = trim([Draft("Tea is hot.", OKAY, (), 0.3), Draft("tea is hot", VITAL, (), 0.7)], 5)
    assert merged == [Draft("Tea is hot.", VITAL, (), 0.7)]
    merged = trim([Draft("Tea is hot.", VITAL, ()), Draft("tea is hot", OKAY, (), 0.3)], 5)
    assert merged == [Draft("Tea is hot.", VITAL, ())]


def test_it_is_decided_where_the_nuggetizer_has_a_model_for_it_and_never_in_the_paper_profile() -> None:
    def decides(profile: Any, **stages: Any) -> bool:
        llm, pipeline = LLMSettings(stages=stages), PipelineSettings(profile=profile)
        parts: Any = SimpleNamespace(llm=llm, pipeline=pipeline)
        return decides_importance(parts)

    small = {"decision_model": "small"}
    assert decides("live", nuggetizer=small)
    assert not decides("paper", nuggetizer=small)
    assert not decides("live", nuggetizer={"model": "large"})
    assert not decides("frugal", **{"*": small})
