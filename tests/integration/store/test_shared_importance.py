"""Importance by decisions in a nugget bank: it is asked once per nugget, and a shared list keeps it."""

from dataclasses import replace
from typing import Any

from nuggetstream.domain.nugget import Importance
from services.nuggetizer.bank import NuggetBank
from services.nuggetizer.stage import Nuggetizer
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt
from services.store.content.nugget_banks import NuggetLists
from services.store.database import Database
from tests.fakes import ScriptedModel, blocks
from tests.integration.store.test_nugget_banks import DRINK, GREEN, LEAVES, battle, scripted


def surer_each_time() -> ScriptedModel:
    """A model whose probability of vital is 0.6 in its first decision and 0.1 more in each further one."""
    asked: list[Prompt[Any]] = []

    def reply(prompt: Prompt[Any]) -> DecisionReply:
        asked.append(prompt)
        share = 0.5 + len(asked) / 10
        shares = {"v": share, "o": 1 - share}
        nuggets = blocks(prompt, "nugget")
        return DecisionReply(answers=[Answer(name=b.id, letter="v", probabilities=shares) for b in nuggets])

    return ScriptedModel({"importance_decision": reply}, name="decider")


async def test_only_nuggets_that_an_answer_adds_are_decided(database: Database) -> None:
    chat, model = scripted(), surer_each_time()
    nuggetizer = Nuggetizer(chat, decisions=model, bank=NuggetBank(NuggetLists(database)))
    (first,) = await nuggetizer(battle("b1"))
    (same,) = await nuggetizer(battle("b2", a=DRINK, b=LEAVES))
    assert len(model.asked) == 1
    (grown,) = await nuggetizer(battle("b3", b=GREEN))
    assert chat.tasks() == ["nuggets", "nuggets_added"]
    assert [[block.text for block in blocks(p, "nugget")] for p in model.asked[1:]] == [[f"Fact: {GREEN}"]]
    probabilities = [
        {nugget.text: nugget.vital_probability for nugget in event.nugget_list.nuggets}
        for event in (first, same, grown)
    ]
    assert probabilities[0] == probabilities[1]
    assert set(probabilities[0].values()) == {0.6}
    assert probabilities[2] == probabilities[0] | {f"Fact: {GREEN}": 0.7}
    facts = [nugget for nugget in grown.nugget_list.nuggets if "Passage number" not in nugget.text]
    assert {nugget.importance for nugget in facts} == {Importance.VITAL}  # the passages dispute each other


async def test_a_list_with_decided_importance_is_not_shared_with_one_without(database: Database) -> None:
    base = Nuggetizer(scripted(), bank=NuggetBank(NuggetLists(database)))
    (plain,) = await base(battle("b1"))
    (decided,) = await replace(base, decisions=surer_each_time())(battle("b2"))
    assert plain.nugget_list.bank.bank != decided.nugget_list.bank.bank
    assert {nugget.vital_probability for nugget in plain.nugget_list.nuggets} == {None}
