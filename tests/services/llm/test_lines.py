"""The form of lines in a schema: it allows what the offline model writes, and no faults of small models."""

import json
import re
from typing import Any

import jsonschema
import pytest

from services.assigner.decisions import assignment_decision
from services.judge.registry import heuristics
from services.judge.verdicts import pairwise
from services.nuggetizer import prompts
from services.nuggetizer.decisions import importance_decision
from services.offline.answers import ParsedPrompt, answer
from services.offline.decisions import as_lines
from services.runtime.llm.assignment import assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.lines import items_of
from services.runtime.llm.prompt import Prompt

CHARACTER = r'[^"\\\x00-\x1F]'  # in a pattern, a character of a text
QUERY = "How tall is the Eiffel Tower, and when was it built?"
ANSWER = "The Eiffel Tower is 330 metres tall. It was built from 1887 to 1889. Many people like it."
DOCUMENTS = [
    Block("answer", "a1", ANSWER),
    Block("answer", "a2", "The tower was finished in 1889 and is 330 metres tall."),
    Block("chunk", "c1", "The Eiffel Tower was designed by Gustave Eiffel's company and built by 1889."),
]
NUGGETS = [
    Block("nugget", "n1", "The Eiffel Tower is 330 metres tall."),
    Block("nugget", "n2", "The Eiffel Tower was built from 1887 to 1889."),
    Block("nugget", "n3", "The Eiffel Tower has three floors for visitors."),
]
PROMPTS: list[Prompt[Any]] = [
    prompts.all_at_once(QUERY, DOCUMENTS, 12),
    prompts.additions(QUERY, ["The tower is in Paris."], DOCUMENTS[:2], 12),
    prompts.importance(QUERY, NUGGETS),
    assignment(QUERY, NUGGETS, ANSWER, "Nothing."),
    assignment(QUERY, NUGGETS, ANSWER, "Nothing.", contradictions=False),
    assignment_decision(QUERY, NUGGETS, ANSWER, "Nothing."),
    importance_decision(QUERY, [nugget.text for nugget in NUGGETS]),
]


def allows(prompt: Prompt[Any], reply: dict[str, Any]) -> bool:
    return not list(jsonschema.Draft202012Validator(prompt.schema()).iter_errors(reply))


def references_of(schema: object) -> list[dict[str, Any]]:
    """Every part of a schema that refers to another part."""
    parts = list(schema.values()) if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    own = [schema] if isinstance(schema, dict) and "$ref" in schema else []
    return own + [found for part in parts for found in references_of(part)]


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.task)
def test_nothing_stands_beside_a_reference(prompt: Prompt[Any]) -> None:
    # llama.cpp ignores a pattern beside a reference, so SmolLM2 could write lines of any form there.
    assert [found for found in references_of(prompt.schema()) if len(found) > 1] == []


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.task)
def test_what_the_offline_model_replies_has_the_form(prompt: Prompt[Any]) -> None:
    said = answer(prompt.task, ParsedPrompt.read(prompt.messages()[1]["content"], None), heuristics)
    text = as_lines(said) if isinstance(said, DecisionReply) else said.model_dump_json()
    assert allows(prompt, json.loads(text))


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        (PROMPTS[0], []),
        (PROMPTS[0], ["The tower is 330 metres tall."]),
        (PROMPTS[0], ["n1 s 3"]),
        (PROMPTS[0], ["v a1 c7: The tower is 330 metres tall."]),
        (PROMPTS[0], ["v: The tower is 330 metres tall."]),
        (PROMPTS[0], [f"v{' a1' * 21}: The tower is 330 metres tall."]),
        (PROMPTS[0], ["v a1: The tower " + "is very tall and " * 20]),
        (PROMPTS[2], ["n1 v", "n2 o"]),
        (PROMPTS[2], ["n1 v", "n2 o", "n4 v"]),
        (PROMPTS[3], []),
        (PROMPTS[3], ["v a1 c3: Tides follow the moon.", "n2 n", "n3 n"]),
        (PROMPTS[3], ["n1 support", "n2 n", "n3 n"]),
        (PROMPTS[4], ["n1 c 1", "n2 n", "n3 n"]),
        (PROMPTS[5], ["n1 x", "n2 n", "n3 n"]),
    ],
)
def test_faults_of_small_models_have_not(prompt: Prompt[Any], lines: list[str]) -> None:
    field = next(iter(prompt.reply.model_fields))
    assert not allows(prompt, {field: lines})


def test_the_reasons_of_a_verdict_leave_room_for_its_winner() -> None:
    prompt = pairwise.prompt(QUERY, ANSWER, "Nothing.", [])
    assert allows(prompt, {"reasoning": "It is right. " * 90, "winner": "first"})
    assert not allows(prompt, {"reasoning": "It is right. " * 100, "winner": "first"})


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.task)
def test_patterns_are_of_the_kind_that_all_servers_know(prompt: Prompt[Any]) -> None:
    assert prompt.lines is not None
    assert not re.search(r"\(\?|\\", prompt.lines.pattern.replace(CHARACTER, ""))
    assert re.fullmatch(r"\^.*\$", prompt.lines.pattern)


def test_a_text_of_the_form_is_its_own_json() -> None:
    # llama.cpp matches a pattern with the JSON of a string and sends nothing more once that is none. The 1.5B
    # quoted an answer in its facts, was silent for two minutes and was given up, at each of its attempts.
    characters = [chr(code) for code in range(0x3000)]
    allowed = [character for character in characters if re.fullmatch(CHARACTER, character)]
    assert set(characters) - set(allowed) == {'"', "\\", *map(chr, range(0x20))}
    assert [json.loads(f'"{character}"') for character in allowed] == allowed


def test_a_fact_with_quotation_marks_is_read_though_no_server_is_asked_for_one() -> None:
    lines = PROMPTS[0].lines
    assert lines is not None
    line = 'v a1: Gustave Eiffel said "yes", and \\pi is a number.'
    assert not re.fullmatch(lines.pattern, line)
    assert lines.allow(line)
    assert not lines.allow("v a7: The tower is 330 metres tall.")


@pytest.mark.parametrize(
    ("text", "is_cut", "items"),
    [
        ('{"labels": ["n1 v", "n2 o"]}', False, ["n1 v", "n2 o"]),
        ('["n1 v", {"id": "n2"}]', False, ["n1 v", {"id": "n2"}]),
        ('{"labels": ["n1 v", "n2 o"', True, ["n1 v"]),
        ('{"labels": ["n1 v", "n1', True, ["n1 v"]),
        ('{"labels": ["n1 v", "n1', False, []),
        ('{"labels": ["n1 v"]} As the page says: {"labels": ["n1 o"]}', False, []),
        ('Here it is: {"labels": ["n1 v"]}', True, []),
        ('{"other": ["n1 v"]}', False, []),
        ('{"labels": ' + "[" * 100_000, True, []),
    ],
)
def test_complete_items_of_a_reply_are_read(text: str, is_cut: bool, items: list[object]) -> None:
    assert items_of(text, "labels", is_cut=is_cut) == items
