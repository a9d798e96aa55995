"""A repair asks only for the lines that are missing, and keeps those that are right."""

import json

import pytest

from services.nuggetizer import prompts
from services.runtime.errors import Retryable
from services.runtime.llm.assignment import assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply, NuggetsReply
from tests.integration.llm.conftest import Connect, Scripted, said

NUGGETS = [Block("nugget", f"n{number}", f"Fact number {number}.") for number in range(1, 5)]


def asked() -> Prompt[AssignmentReply]:
    return assignment("What is true?", NUGGETS, "One is true. Two is true.", "Nothing is.")


def labels(*lines: str, rest: str = "") -> str:
    return json.dumps({"labels": list(lines)}) + rest


@pytest.mark.parametrize(
    ("first", "finish", "missing"),
    [
        (labels("n1 s 1", "n2 s 2", "n3 n"), "stop", ["n4"]),
        (labels("n1 s 1", "v a1 c3: Tides follow the moon.", "n3 n"), "stop", ["n2", "n4"]),
        (labels("n1 s 1", "n3 maybe", "n7 s 1"), "stop", ["n2", "n3", "n4"]),
        (labels("n1 s 1", "n2 s 2", "n2 n", "n3 n", "n4 n"), "stop", ["n2"]),
        ('{"labels": ["n1 s 1", "n2 s 2", "n3 n", "n4', "length", ["n4"]),
        ('{"labels": ["n1 s 1", ' + '"n2 s 2", ' * 80, "length", ["n2", "n3", "n4"]),
        (f"```json\n{labels('n1 s 1', 'n2 s 2')}\n```", "stop", ["n3", "n4"]),
    ],
)
async def test_only_missing_lines_are_asked_for(
    connect: Connect, first: str, finish: str, missing: list[str]
) -> None:
    server = Scripted([said(first, finish), said(labels(*(f"{name} p 1" for name in missing)))])
    reply = await connect(server)(asked())
    found = {label.id: label.label for label in reply.value.labels}
    assert sorted(found) == ["n1", "n2", "n3", "n4"]
    assert found["n1"] == "support"
    assert {found[name] for name in missing} == {"partial_support"}
    repair = server.requests[1]
    schema = repair["response_format"]["json_schema"]["schema"]["properties"]["labels"]
    assert (schema["minItems"], schema["maxItems"]) == (len(missing), len(missing))
    assert schema["items"]["pattern"].startswith(f"^({'|'.join(missing)}) ")
    assert f"only with the lines for {', '.join(missing)}," in repair["messages"][-1]["content"]


async def test_a_model_that_writes_all_lines_again_changes_none_that_was_kept(connect: Connect) -> None:
    again = labels("n1 n", "n2 n", "n3 n", "n4 p 1")
    reply = await connect(Scripted([said(labels("n1 s 1", "n2 s 2", "n3 s 1")), said(again)]))(asked())
    assert [label.label for label in reply.value.labels] == ["support"] * 3 + ["partial_support"]


@pytest.mark.parametrize("second", [labels("n7 s 1"), labels(), labels("n4 s 1", "n4 n"), "I cannot."])
async def test_a_repair_without_the_missing_lines_is_no_reply(connect: Connect, second: str) -> None:
    server = Scripted([said(labels("n1 s 1", "n2 s 2", "n3 s 1")), said(second)])
    with pytest.raises(Retryable, match="two replies"):
        await connect(server)(asked())
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "first",
    ["I think so.", labels("n7 s 1"), labels("n1 s 1", rest=" and so on"), f"Sure: {labels('n1 s 1')}"],
)
async def test_where_nothing_can_be_kept_everything_is_asked_for_again(connect: Connect, first: str) -> None:
    server = Scripted([said(first), said(labels("n1 s 1", "n2 s 2", "n3 s 1", "n4 n"))])
    assert len((await connect(server)(asked())).value.labels) == 4
    assert "only with the lines" not in server.requests[1]["messages"][-1]["content"]


async def test_a_completed_reply_is_cached_as_one(connect: Connect) -> None:
    server = Scripted([said(labels("n1 s 1", "n2 s 2", "n3 s 1")), said(labels("n4 n"))])
    ask = connect(server)
    first = await ask(asked())
    second = await ask(asked())
    assert (second.value, second.usage.cached, len(server.requests)) == (first.value, True, 2)


LISTED = '{"nuggets": ["v a1: Tea is hot.", "o a2: Tea is green.", "v a1: Tea is hot.", '


def nuggets() -> Prompt[NuggetsReply]:
    answers = [Block("answer", name, "Tea is hot. Tea is green.") for name in ("a1", "a2")]
    return prompts.all_at_once("What is tea?", answers, 12)


async def test_a_list_is_used_as_far_as_it_came_before_it_repeats_itself(connect: Connect) -> None:
    # Qwen2.5-Coder 1.5B wrote one nugget again and again, also when it was asked once more.
    server = Scripted([said(LISTED + '"o a2: Tea is green.", ' * 40, "length")])
    reply = await connect(server)(nuggets())
    assert [nugget.text for nugget in reply.value.nuggets] == ["Tea is hot.", "Tea is green."]
    assert len(server.requests) == 1


async def test_a_list_that_only_repeats_what_has_not_the_form_is_asked_for_again(connect: Connect) -> None:
    again = json.dumps({"nuggets": ["v a1: Tea is hot."]})
    server = Scripted([said('{"nuggets": [' + '"Tea is green.", ' * 40, "length"), said(again)])
    reply = await connect(server)(nuggets())
    assert [nugget.text for nugget in reply.value.nuggets] == ["Tea is hot."]
    assert len(server.requests) == 2
