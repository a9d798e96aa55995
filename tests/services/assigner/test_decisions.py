"""Labels by decisions: with probabilities, and by chat where the model declines to decide."""

from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Support, SupportProbabilities
from nuggetstream.nuggets.scores import Unscorable, expected_score, labels_of
from services.assigner.stage import Assigner
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply, NuggetSupport
from tests import samples
from tests.fakes import ScriptedModel, blocks

EVENT = samples.nuggetized(3, fought=samples.battle(a="Something.", b="Something else."))
SURE = {"s": 0.7, "p": 0.2, "n": 0.06, "c": 0.04}


def decides(**letters: str | None) -> ScriptedModel:
    """A model that decides so about every answer, n3 without a probability."""

    def reply(prompt: Prompt[Any]) -> DecisionReply:
        told = {name: SURE if name != "n3" else None for name in letters}
        return DecisionReply(
            answers=[Answer(name=name, letter=x, probabilities=told[name]) for name, x in letters.items()]
        )

    return ScriptedModel({"assignment_decision": reply}, name="decider")


def by_chat(prompt: Prompt[Any]) -> AssignmentReply:
    return AssignmentReply(
        labels=[
            NuggetSupport(id=block.id, label="partial_support", first=1) for block in blocks(prompt, "nugget")
        ]
    )


async def test_a_decision_labels_every_nugget_with_its_probabilities() -> None:
    chat, model = ScriptedModel({"assignment": by_chat}), decides(n1="s", n2="n", n3="p")
    [out] = await Assigner(chat, decisions=model)(EVENT)
    labels = out.assignment_set.assignments
    assert labels_of(labels, Side.A) == {
        "v0": Support.SUPPORT, "v1": Support.NOT_SUPPORT, "v2": Support.PARTIAL_SUPPORT
    }  # fmt: skip
    assert labels[0].probabilities == SupportProbabilities(0.7, 0.2, 0.06, 0.04)
    assert [label.probabilities is None for label in labels] == [False, False, True] * 2
    assert all(label.quote is None for label in labels)
    assert (len(model.asked), chat.asked) == (2, [])
    assert out.assignment_set.model == "decider-2026"


async def test_a_decision_can_be_a_contradiction() -> None:
    [out] = await Assigner(ScriptedModel({}), decisions=decides(n1="c", n2="n", n3="c"))(EVENT)
    labels = labels_of(out.assignment_set.assignments, Side.A)
    assert labels == {
        "v0": Support.CONTRADICTION, "v1": Support.NOT_SUPPORT, "v2": Support.CONTRADICTION
    }  # fmt: skip


async def test_a_nugget_that_is_declined_is_labelled_by_chat() -> None:
    chat, model = ScriptedModel({"assignment": by_chat}), decides(n1="s", n2=None, n3="n")
    [out] = await Assigner(chat, decisions=model)(EVENT)
    assert [[block.text for block in blocks(prompt, "nugget")] for prompt in chat.asked] == [
        [EVENT.nugget_list.nuggets[1].text]
    ] * 2
    by_name = {label.nugget_id: label for label in out.assignment_set.assignments if label.side is Side.A}
    assert by_name["v1"].support is Support.PARTIAL_SUPPORT
    assert (by_name["v1"].probabilities, by_name["v1"].quote) == (None, "Something.")
    assert by_name["v0"].support is Support.SUPPORT
    assert out.assignment_set.model == "decider-2026, scripted-2026"
    versions = {model.asked[0].version, chat.asked[0].version}
    assert set(out.assignment_set.prompt_version.split(", ")) == versions


async def test_labels_that_are_all_declined_are_those_of_the_chat_model() -> None:
    chat, model = ScriptedModel({"assignment": by_chat}), decides(n1=None, n2=None, n3=None)
    [out] = await Assigner(chat, decisions=model)(EVENT)
    assert out.assignment_set.model == "scripted-2026"
    assert out.assignment_set.prompt_version == chat.asked[0].version


async def test_windows_that_two_models_label_name_both() -> None:
    def first_alone(prompt: Prompt[Any]) -> DecisionReply:
        is_first = blocks(prompt, "nugget")[0].text == EVENT.nugget_list.nuggets[0].text
        letter = "s" if is_first else None
        return DecisionReply(answers=[Answer(name=b.id, letter=letter) for b in blocks(prompt, "nugget")])

    chat = ScriptedModel({"assignment": by_chat})
    model = ScriptedModel({"assignment_decision": first_alone}, name="decider")
    [out] = await Assigner(chat, window=1, decisions=model)(EVENT)
    assert out.assignment_set.model == "decider-2026, scripted-2026"


async def test_nuggets_that_are_asked_about_one_by_one_stand_behind_the_answer() -> None:
    # A small model labels a list in the order of the answer's sentences.
    model = decides(n1="s")
    [out] = await Assigner(ScriptedModel({}), window=1, decisions=model)(EVENT)
    assert {label.support for label in out.assignment_set.assignments} == {Support.SUPPORT}
    assert len(model.asked) == 2 * len(EVENT.nugget_list.nuggets)
    of_first = [prompt.messages()[-1]["content"] for prompt in model.asked[:2]]
    answer = next(block for block in model.asked[0].blocks if block.kind == "answer")
    until = of_first[0].index(answer.text) + len(answer.text)
    assert of_first[0][:until] == of_first[1][:until]
    [whole] = await Assigner(ScriptedModel({}), decisions=decides(n1="s", n2="s", n3="s"))(EVENT)
    assert whole.assignment_set.prompt_version != out.assignment_set.prompt_version
    assert whole.key != out.key


async def test_decisions_and_chat_give_other_keys() -> None:
    chat, model = ScriptedModel({"assignment": by_chat}), decides(n1="s", n2="n", n3="p")
    keys = {
        (await Assigner(chat)(EVENT))[0].key,
        (await Assigner(chat, decisions=model)(EVENT))[0].key,
        (await Assigner(chat, decisions=replace(model, name="other"))(EVENT))[0].key,
    }
    assert len(keys) == 3


async def test_a_missing_answer_is_no_label() -> None:
    with pytest.raises(ValueError, match="missing ids: n3"):
        await Assigner(ScriptedModel({}), decisions=decides(n1="s", n2="n"))(EVENT)


async def test_an_expected_score_needs_the_probabilities_of_every_nugget() -> None:
    [out] = await Assigner(ScriptedModel({}), decisions=decides(n1="s", n2="n", n3="p"))(EVENT)
    labels, nuggets = out.assignment_set.assignments, EVENT.nugget_list.nuggets
    assert expected_score(nuggets, labels, Side.A) is None
    assert expected_score(nuggets[:2], labels, Side.A) == pytest.approx(0.8)
    with pytest.raises(Unscorable):
        expected_score([], labels, Side.A)
