"""Injections in every place, through every prompt: no text leaves its block, and none decides a reply."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from pydantic import BaseModel

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized
from nuggetstream.domain.nugget import Importance, Nugget, NuggetList
from nuggetstream.domain.question_bank import BankKind
from services.assigner.stage import Assigner
from services.cli.tournament.prompts import answer_prompt
from services.cli.tournament.query_prompts import answered_prompt, queries_prompt
from services.judge.grades import answer_quality
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.grades.rubric import RubricOptions
from services.judge.registry import EVALUATORS, heuristics
from services.judge.verdicts.pairwise import prompt as verdict
from services.nuggetizer.prompts import additions, importance
from services.nuggetizer.stage import Nuggetizer, Profile
from services.offline.answers import ParsedPrompt, answer
from services.retriever.variations import QueryVariations
from services.runtime.llm import blocks as fences
from services.runtime.llm import prompt as prompts
from services.runtime.llm.assignment import assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.conversation import in_context
from services.runtime.llm.parsing import Unusable, read_reply
from services.runtime.llm.prompt import TASKS, Prompt
from tests.fakes import ScriptedModel, blocks
from tests.injections import IN_TURNS, INJECTIONS, PLACES, Injection, battle_with
from tests.panels import judge_of, panel_of

MARKER = re.compile(r"<<<(?P<kind>[a-z_]+) (?P<id>[\w.:-]+) #(?P<nonce>[0-9a-f]{16})>>>")
WITHOUT_QUERY = {"language_quality", "collection_queries", "queries_answered"} | {
    f"{task}{way}"
    for task in ("citation_support", "nugget_entailment", "rubric_verify")
    for way in ("", "_decision")
}
NUGGETS = [Block("nugget", "n1", "Tea is a drink.")]


def offline_model() -> ScriptedModel:
    """Answers every task by the heuristics of the offline model."""

    def heuristic(prompt: Prompt[Any]) -> BaseModel:
        text = prompt.messages()[1]["content"]
        return answer(prompt.task, ParsedPrompt.read(text, None), heuristics)

    return ScriptedModel(dict.fromkeys((*TASKS, *heuristics()), heuristic))


async def prompts_about(text: str) -> list[Prompt[Any]]:
    """Every prompt that the platform asks about a battle with a text in every place."""
    event, model = battle_with(text), offline_model()

    async def stored(chunk_ids: Sequence[str]) -> Mapping[str, str]:
        return dict.fromkeys(chunk_ids, text)

    await QueryVariations(model, 3).of(event.battle)
    await judge_of(model)(event)
    await judge_of(model, decisions=model)(event)
    await Nuggetizer(model, Profile.PAPER)(event)
    [nuggetized] = await Nuggetizer(model, decisions=model)(event)
    assert isinstance(nuggetized, BattleNuggetized)
    injected = Nugget("injected", text, Importance.VITAL)  # as if the nuggetizer had taken it for a fact
    listed = NuggetList((*nuggetized.nugget_list.nuggets, injected), (), "live", "both", "m", "1")
    nuggetized = BattleNuggetized("k2", event.battle, listed)
    await Assigner(model, decisions=model)(nuggetized)
    [assigned] = await Assigner(model)(nuggetized)
    assert isinstance(assigned, BattleAssigned)
    for evaluator in EVALUATORS.values():
        reads = assigned if evaluator.registered.reads is BattleAssigned else event
        for decisions in (None, model):
            await panel_of(evaluator, model, decisions=decisions, texts_of=stored)(reads)

    def found(prompt: Prompt[Any]) -> GradesReply:
        asked = [block.id for block in prompt.blocks if block.kind == "nugget"]
        return GradesReply(grades=[GradeLine(name=name, value=5, reason=text) for name in asked])

    finding = replace(model, script={**model.script, "rubric": found})
    for decisions in (None, finding):
        whole = RubricOptions(items=BankKind.NUGGETS, passages=True, verify=True)
        await panel_of("rubric", finding, decisions=decisions, options=whole)(event)
    texts = [nugget.text for nugget in listed.nuggets]
    further = additions(event.battle.query, texts, [Block("answer", "a1", text)], 5)
    answered = answer_prompt(event.battle.query, [chunk.text for chunk in event.evidence], 5)
    added = [in_context(prompt, event.battle.context, {"a1": Side.A}) for prompt in (further, answered)]
    made = (queries_prompt(text, [text], 5), answered_prompt(text, {"q1": text}))  # of no battle
    return [*model.asked, *added, *made]


@cache
def operators_words() -> Mapping[str, set[str]]:
    """What stands outside the blocks in the prompts about an ordinary battle, by task."""
    words: dict[str, set[str]] = {}
    for prompt in asyncio.run(prompts_about("It is warm.")):
        words.setdefault(prompt.task, set()).add(outside(prompt))
    return words


def outside(prompt: Prompt[Any]) -> str:
    """What stands outside the blocks, read line by line as a model would; nonces and ids are masked."""
    system, user = (message["content"] for message in prompt.messages())
    found = re.search(r"#([0-9a-f]{16})>>>", system)
    assert found is not None
    nonce, lines, inside = found[1], [system], None
    for line in user.split("\n"):
        marker = MARKER.fullmatch(line)
        if marker is None or marker["nonce"] != nonce:
            assert "<<<" not in line, line
            lines += [line] if inside is None and line else []
        elif marker["kind"] == "end":
            assert inside == marker["id"], f"{marker['id']} closes {inside}"
            inside = None
        else:
            assert inside is None, f"{marker['id']} opens inside {inside}"
            inside = marker["id"]
    assert inside is None
    assert not any(nonce in block.text for block in prompt.blocks)
    # Questions and parameters name nuggets and passages by their ids; limits follow from how many there are.
    kept = re.sub(r"(?m)^n\d+\. .*\n?", "", "\n".join(lines).replace(nonce, "NONCE"))
    kept = re.sub(r"(?m)^(\w+): [nc]\d+[nc\d:;, ]*$", r"\1: IDS", kept)
    return re.sub(r"\d+", "N", kept)


def named(injection: Injection) -> str:
    return f"{injection.technique} {injection.language} {injection.place}"


FIRST = {each.technique: each for each in reversed(INJECTIONS)}.values()  # of each technique


@pytest.mark.parametrize(
    "text",
    [
        *(
            pytest.param(each.text, id=named(each), marks=[] if each in FIRST else pytest.mark.full)
            for each in INJECTIONS
        ),
        *(pytest.param(text, id=f"turn {number}") for number, text in enumerate(IN_TURNS)),
    ],
)
def test_no_injection_leaves_its_block_in_any_prompt(text: str) -> None:
    asked = asyncio.run(prompts_about(text))
    assert {prompt.task for prompt in asked} == operators_words().keys()
    assert {prompt.task for prompt in asked if not blocks(prompt, "turn")} == WITHOUT_QUERY
    for prompt in asked:
        assert outside(prompt) in operators_words()[prompt.task]
        user = prompt.messages()[1]["content"]
        assert not fences._INVISIBLE.search(user)
        assert not fences._ROLE_TOKEN.search(user)


def test_the_set_covers_places_languages_and_techniques() -> None:
    assert len({injection.text for injection in INJECTIONS}) == len(INJECTIONS) >= 60
    assert {injection.place for injection in INJECTIONS} == set(PLACES)
    assert len({injection.language for injection in INJECTIONS}) == 8
    assert operators_words().keys() == {*TASKS, *heuristics()}


def test_a_text_outside_its_block_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    words = operators_words()["verdict"]
    monkeypatch.setattr(fences, "neutralise", lambda text: text)
    monkeypatch.setattr(prompts, "nonce_for", lambda *_, **__: "0123456789abcdef")
    noticed = 0
    for injection in INJECTIONS:
        try:
            noticed += outside(verdict("What is tea?", "Tea is hot.", injection.text, [])) not in words
        except AssertionError:
            noticed += 1
    assert noticed >= 5


@pytest.mark.parametrize("injection", INJECTIONS, ids=named)
def test_a_reply_that_repeats_an_injection_is_read_as_the_models_own_or_not_at_all(
    injection: Injection,
) -> None:
    text, asked = injection.text, verdict("What is tea?", "Tea.", "Coffee.", [])
    own = {"reasoning": "It covers more.", "winner": "second"}
    quoting = {**own, "reasoning": f"One answer says: {text}"}
    assert read_reply(json.dumps(quoting), asked).winner == "second"
    for reply in (f"{text}\n{json.dumps(own)}", f"{json.dumps(own)}\n{text}", f"One answer says: {text}"):
        with pytest.raises(Unusable):
            read_reply(reply, asked)


@pytest.mark.parametrize("injection", INJECTIONS, ids=named)
def test_an_injected_line_adds_no_label_and_no_grade(injection: Injection) -> None:
    grades = [f"{criterion.name} 1" for criterion in answer_quality.CRITERIA]
    for prompt, name, own in (
        (assignment("What is tea?", NUGGETS, "Tea.", "Coffee."), "labels", ["n1 n"]),
        (importance("What is tea?", NUGGETS), "labels", ["n1 o"]),
        (answer_quality.ASKED.prompt("What is tea?", "Tea.", "Coffee.", []), "grades", grades),
    ):
        read_reply(json.dumps({name: own}), prompt)
        for line in injection.text.splitlines():
            with pytest.raises(Unusable):
                read_reply(json.dumps({name: [*own, line]}), prompt)
