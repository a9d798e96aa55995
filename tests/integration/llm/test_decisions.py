"""Decisions are asked in the best way that an endpoint has, and read as strictly as any other reply."""

import json
from math import log
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from services.offline.app import create_app
from services.offline.decisions import sharpened
from services.offline.faults import Faults
from services.runtime.errors import ModelOutage
from services.runtime.llm.blocks import Block
from services.runtime.llm.decisions.question import MAX_QUESTIONS, Choice, Question
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.prompt import Prompt
from tests.integration.llm.conftest import Connect, Scripted, refused, said

CHOICES = (
    Choice("s", "support", "it states the fact"),
    Choice("p", "partial_support", "it states a part"),
    Choice("n", "not_support", "it does not"),
)
VALUES = [choice.value for choice in CHOICES]
NO_PATH = refused(404, "no such path")


def question(*names: str, **changes: Any) -> Prompt[DecisionReply]:
    questions = tuple(Question(name, f"Does the answer state nugget {name}?", CHOICES) for name in names)
    blocks = [Block("nugget", name, f"The tower is {name[1:]}00 metres tall.") for name in names]
    given: dict[str, Any] = {
        "task": "assignment_decision", "version": "1", "system": "You compare.", "instructions": "Read this.",
        "blocks": (Block("query", "q", "How tall?"), *blocks, Block("answer", "a", "It is 300 metres tall.")),
        "reply": DecisionReply, "max_tokens": 100, "questions": questions,
        "check": lambda reply: reply.check(questions),
    }  # fmt: skip
    return Prompt(**{**given, **changes})


def decided(*answers: dict[str, Any]) -> Response:
    usage = {"input_tokens": 100, "output_tokens": 0, "input_tokens_details": {"cached_tokens": 40}}
    return JSONResponse({"model": "decider-1", "answers": list(answers), "usage": usage})


def choice(value: str, *shares: float) -> dict[str, Any]:
    told = [{"value": v, "probability": p} for v, p in zip(VALUES, shares, strict=False)]
    return {"type": "choice", "choice": value, "confidence": 0.5, "probabilities": told}


def spelled(text: str, *tokens: dict[str, float]) -> Response:
    """A chat completion whose letters have these alternatives."""
    response = json.loads(bytes(said(text).body))
    content, rest = [], text
    for alternatives in tokens:
        token = next(iter(alternatives))
        before, _, rest = rest.partition(token)
        content.append({"token": before, "logprob": 0.0, "top_logprobs": []})
        told = [{"token": name, "logprob": log(share)} for name, share in alternatives.items()]
        content.append({**told[0], "top_logprobs": told})
    content.append({"token": rest, "logprob": 0.0, "top_logprobs": []})
    response["choices"][0]["logprobs"] = {"content": content}
    return JSONResponse(response)


async def test_an_endpoint_for_decisions_gets_the_questions_and_gives_probabilities(connect: Connect) -> None:
    server = Scripted([decided(choice("support", 0.9, 0.06, 0.04), {"type": "refusal"})])
    ask = connect(server)
    reply = await ask(question("n1", "n2"))
    first, second = reply.value.answers
    assert (first.letter, first.probabilities) == ("s", {"s": 0.9, "p": 0.06, "n": 0.04})
    assert (second.letter, second.probabilities) == (None, None)
    assert reply.model == "decider-1"
    [request] = server.requests
    assert [each["name"] for each in request["questions"]] == ["n1", "n2"]
    assert [each["value"] for each in request["questions"][0]["choices"]] == VALUES
    assert "messages" not in request
    spent = await ask.model.ledger.for_battle("b1")
    assert (spent.tokens.input, spent.tokens.cached_input, spent.tokens.output) == (100, 40, 0)


async def test_without_one_a_chat_model_is_asked_and_its_tokens_tell_the_probabilities(
    connect: Connect,
) -> None:
    text = '{"answers": ["n1 s", "n2 n"]}'
    server = Scripted([NO_PATH, spelled(text, {" s": 0.6, " p": 0.2, " x": 0.2}, {" n": 0.9, " s": 0.1})])
    ask = connect(server)
    answers = (await ask(question("n1", "n2"))).value.answers
    assert answers[0].probabilities == pytest.approx({"s": 0.75, "p": 0.25, "n": 0.0})
    assert answers[1].probabilities == pytest.approx({"s": 0.1, "p": 0.0, "n": 0.9})
    await ask(question("n2", "n1"))
    assert ["logprobs" in request for request in server.requests] == [False, True, True]
    assert "n1. Does the answer state nugget n1?" in server.requests[1]["messages"][1]["content"]


async def test_an_endpoint_with_neither_gives_letters_without_probabilities(connect: Connect) -> None:
    unknown = refused(400, "Unknown parameter: logprobs")
    server = Scripted([NO_PATH, unknown, said('{"answers": ["n1 S."]}')])
    [answer] = (await connect(server)(question("n1"))).value.answers
    assert (answer.letter, answer.probabilities) == ("s", None)


@pytest.mark.parametrize(
    "tokens",
    [
        ({" p": 0.9, " n": 0.1},),  # the alternatives do not contain the letter that was written
        ({"other": 1.0},),  # the tokens do not spell the reply
    ],
)
async def test_tokens_that_do_not_fit_the_reply_tell_nothing(
    connect: Connect, tokens: tuple[dict[str, float], ...]
) -> None:
    response = json.loads(bytes(said('{"answers": ["n1 s"]}').body))
    told = [{"token": name, "logprob": log(share)} for name, share in tokens[0].items()]
    content = [
        {"token": '{"answers": ["n1', "logprob": 0.0, "top_logprobs": []},
        {"token": " s", "logprob": 0.0, "top_logprobs": told},
        {"token": '"]}' if " p" in tokens[0] else "", "logprob": 0.0, "top_logprobs": []},
    ]
    response["choices"][0]["logprobs"] = {"content": content}
    [answer] = (await connect(Scripted([NO_PATH, JSONResponse(response)]))(question("n1"))).value.answers
    assert (answer.letter, answer.probabilities) == ("s", None)


@pytest.mark.parametrize(
    "wrong",
    [
        decided(choice("support", 0.5, 0.2, 0.1)),  # does not add up to 1
        decided(choice("support", 1.5, -0.5, 0.0)),
    ],
)
async def test_impossible_probabilities_are_asked_again_by_chat(connect: Connect, wrong: Response) -> None:
    server = Scripted([wrong, said('{"answers": ["n1 n"]}')])
    [answer] = (await connect(server)(question("n1"))).value.answers
    assert answer.letter == "n"
    assert "That reply cannot be used" in server.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("wrong", [decided(), decided(choice("perhaps")), JSONResponse({"answers": "no"})])
async def test_a_response_that_answers_something_else_is_a_fault_of_the_endpoint(
    connect: Connect, wrong: Response
) -> None:
    ask = connect(Scripted([wrong, decided(choice("support"))]))
    assert (await ask(question("n1"))).value.answers[0].letter == "s"
    with pytest.raises(ModelOutage, match="invalid response"):
        await connect(Scripted([wrong]))(question("n1"))


def test_a_decision_has_no_more_questions_than_one_call_takes() -> None:
    with pytest.raises(ValueError, match="more than 400"):
        question(*(f"n{i}" for i in range(MAX_QUESTIONS + 1)))


@pytest.mark.parametrize(
    ("letters", "problem"),
    [("s", "no choice"), ("ss", "two choices of the same name"), ("sN", "one lower-case letter")],
)
def test_a_question_has_choices_of_different_letters(letters: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Question("n1", "?", tuple(Choice(letter, f"value {i}", "") for i, letter in enumerate(letters)))


@pytest.mark.parametrize(
    "faults", [Faults(), Faults(decisions=False)], ids=["decisions", "chat with logprobs"]
)
async def test_the_offline_model_decides_in_every_way(connect: Connect, faults: Faults) -> None:
    [first, third] = (await connect(create_app(None, faults))(question("n1", "n3"))).value.answers
    assert (third.letter, first.letter) == ("s", third.letter if first.letter == "s" else first.letter)
    assert third.probabilities is not None
    assert sum(third.probabilities.values()) == pytest.approx(1)
    assert third.probabilities["s"] > 0.5


async def test_the_offline_model_without_probabilities_declines_them(connect: Connect) -> None:
    faults = Faults(decisions=False, logprobs=False)
    [answer] = (await connect(create_app(None, faults))(question("n3"))).value.answers
    assert (answer.letter, answer.probabilities) == ("s", None)


async def test_the_offline_model_declines_and_exaggerates_as_it_is_told(connect: Connect) -> None:
    modest, sure = [
        (await connect(create_app(None, Faults(confidence=k)))(question("n3"))).value.answers[0].probabilities
        for k in (0.5, 2.0)
    ]
    assert modest["s"] < sure["s"]
    names = [f"n{i}" for i in range(1, 101)]
    answers = (await connect(create_app(None, Faults(declined=0.5)))(question(*names))).value.answers
    assert 30 < sum(answer.letter is None for answer in answers) < 70


def test_sharpened_probabilities_add_up_to_one() -> None:
    assert sharpened({"a": 0.8, "b": 0.2}, 2.0) == pytest.approx({"a": 16 / 17, "b": 1 / 17})
