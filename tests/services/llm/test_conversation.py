"""Prompts with earlier turns: what is added where, and that a battle of a single turn is asked as ever."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.conversation import Context, Role, Turn
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized, BattleRetrieved
from services.assigner.stage import Assigner
from services.judge.registry import EVALUATORS, heuristics
from services.judge.verdicts.pairwise import prompt as verdict
from services.nuggetizer.bank import bank_of
from services.nuggetizer.stage import Nuggetizer, Profile
from services.offline.answers import Heuristic, ParsedPrompt
from services.runtime.llm.assignment import assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.conversation import in_context
from services.runtime.llm.prompt import Prompt, PromptOverrides
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import judge_of, panel_of
from tests.samples import TURNS
from tests.services.llm.test_injections import offline_model

FACT = "Tea is made of the leaves of Camellia sinensis."
SINGLE = replace(samples.battle(a=FACT), query="And what is it made of?")
SHARED = replace(SINGLE, conversation=TURNS)
OWN = replace(
    SINGLE,
    a=replace(SINGLE.a, conversation=(TURNS[0], Turn(Role.ASSISTANT, "Left said China."))),
    b=replace(SINGLE.b, conversation=(TURNS[0], Turn(Role.ASSISTANT, "Right said India."))),
)

KEYS = ["2cb7f9fb2e2e85282425f7d59afefb9f", "2ba260dfe5e1c88af84039ec877a756f"]


def shown(prompt: Prompt[Any]) -> list[str]:
    """The turns, the query and the answers of a prompt by their ids, in order."""
    return [block.id for block in blocks(prompt, "turn", "query", "answer")]


def told(prompt: Prompt[Any]) -> str:
    return "\n".join(message["content"] for message in prompt.messages())


def any_model() -> ScriptedModel:
    """Answers the tasks of all stages, evaluators and judges by the heuristics of the offline model."""
    model = offline_model()
    own = {name: partial(replied, answer) for name, answer in heuristics().items()}
    return replace(model, script={**model.script, **own})


def replied(answer: Heuristic, prompt: Prompt[Any]) -> BaseModel:
    return answer(ParsedPrompt.read(prompt.messages()[1]["content"], None))


async def asked_about(battle: Battle) -> list[Prompt[Any]]:
    """The prompts of every stage that asks a model."""
    model, event = any_model(), samples.retrieved(fought=battle)
    await judge_of(model)(event)
    await judge_of(model, decisions=model)(event)
    await Nuggetizer(model, Profile.PAPER)(event)
    [nuggetized] = await Nuggetizer(model)(event)
    assert isinstance(nuggetized, BattleNuggetized)
    await Assigner(model, decisions=model)(nuggetized)
    [assigned] = await Assigner(model)(nuggetized)
    assert isinstance(assigned, BattleAssigned)
    for evaluator in EVALUATORS.values():
        reads = assigned if evaluator.registered.reads is BattleAssigned else event
        await panel_of(evaluator, model)(reads)
    return model.asked


def test_a_prompt_of_a_single_turn_is_the_very_same() -> None:
    prompt = verdict("Why?", "x", "y", ["z"])
    assert in_context(prompt, SINGLE.context, {"first": Side.A}) is prompt


def test_cached_replies_of_single_turns_stay_valid() -> None:
    """The keys of versions without conversations."""
    keys = [
        verdict("Why?", "x", "y", ["z"]).cache_key("m"),
        assignment("Why?", [Block("nugget", "n1", "x")], "y", "z", contradictions=False).cache_key("m"),
    ]
    assert keys == KEYS


async def test_every_prompt_with_a_query_shows_the_turns_before_it() -> None:
    single, shared, own = [await asked_about(battle) for battle in (SINGLE, SHARED, OWN)]
    assert not any(blocks(prompt, "turn") for prompt in single)
    for conversation in (shared, own):
        assert {prompt.task for prompt in conversation} == {prompt.task for prompt in single}
        for prompt in conversation:
            has_query = bool(blocks(prompt, "query"))
            assert bool(blocks(prompt, "turn")) is has_query, prompt.task
            assert ("newest message of a conversation" in told(prompt)) is has_query
            assert prompt.version.endswith("+turns-1") is has_query


async def test_turns_of_both_systems_come_before_the_query() -> None:
    [judged] = {tuple(shown(prompt)) for prompt in await asked_about(SHARED) if prompt.task == "verdict"}
    assert judged == ("t1.user", "t1.assistant", "q", "first", "second")


async def test_own_answers_come_before_the_answer_of_the_same_system_in_every_order() -> None:
    for prompt in await asked_about(OWN):
        answers: Sequence[Block] = blocks(prompt, "answer")
        earlier = {block.id: block.text for block in blocks(prompt, "turn")}
        for answer in answers if blocks(prompt, "query") else ():
            name = "Left said China." if FACT in answer.text else "Right said India."
            assert earlier[f"{answer.id}.t1"] == name, prompt.task
            assert shown(prompt).index(f"{answer.id}.t1") == shown(prompt).index(answer.id) - 1
        assert len(earlier) == (1 + len(answers)) * bool(blocks(prompt, "query"))


async def test_the_prompts_of_a_family_still_begin_alike() -> None:
    for battle in (SHARED, OWN):
        [one, other] = [p for p in await asked_about(battle) if p.task == "verdict"][:2]
        assert one.prompt_cache_key() == other.prompt_cache_key()
        texts = told(one), told(other)
        alike = next(i for i, (x, y) in enumerate(zip(*texts, strict=False)) if x != y)
        assert "Passage number 2." in texts[0][:alike]


def test_what_is_left_out_is_said_and_an_operators_text_keeps_it() -> None:
    context = Context((), {"a": ()}, left_out=3)
    prompt = in_context(verdict("Why?", "x", "y", []), context, {"first": "a"})
    own = PromptOverrides({"verdict.txt": "Be brief."}).apply(prompt)
    for each in (prompt, own):
        assert "its first 3 messages of the user are left out" in told(each)
    assert "Be brief." in told(own)


async def test_answers_of_the_same_words_to_different_conversations_are_labelled_apart() -> None:
    same = replace(OWN, a=replace(OWN.a, text="Leaves."), b=replace(OWN.b, text="Leaves."))
    prompts = await asked_about(same)
    for prompt in prompts:
        if prompt.task in ("answer_quality", "aspects"):  # which answer is meant cannot be told by its text
            assert [block.id for block in blocks(prompt, "turn")] == ["t1.user"]
    labelled = [blocks(prompt, "turn")[1].text for prompt in prompts if prompt.task == "assignment"]
    assert set(labelled) == {"Left said China.", "Right said India."}


def test_a_nugget_bank_belongs_to_a_conversation() -> None:
    banks = [bank_of(event(battle), "live") for battle in (SINGLE, SHARED, OWN)]
    assert len(set(banks)) == 3
    assert banks[2] == bank_of(event(replace(OWN, a=OWN.b, b=OWN.a)), "live")


def event(battle: Battle) -> BattleRetrieved:
    return samples.retrieved(fought=battle)
