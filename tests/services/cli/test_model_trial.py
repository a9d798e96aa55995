"""`nuggetstream doctor --model` asks one of each question and says what the model can do."""

import asyncio
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result
from pydantic import BaseModel

from services.cli.commands.start import doctor
from services.judge.registry import heuristics
from services.offline.answers import ParsedPrompt, answer
from services.offline.app import create_app
from services.offline.faults import Faults
from services.offline.requests import ChatRequest
from services.offline.serve import running
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.replies import VerdictReply

Answering = Callable[[ChatRequest], BaseModel | str]


def able(chat: ChatRequest) -> BaseModel | str:
    """A model that prefers the answer with the height, and does the rest as the offline model."""
    prompt = ParsedPrompt.read(chat.first_message("user"), None)
    first = "330" in chat.first_message("user").partition("<<<answer first")[2].partition("<<<end first")[0]
    if chat.task == "verdict":
        return VerdictReply(reasoning="It answers.", winner="first" if first else "second")
    if chat.task == "verdict_decision":
        shares = {"f": 0.9, "s": 0.05, "t": 0.05} if first else {"f": 0.05, "s": 0.9, "t": 0.05}
        letter = max(shares, key=lambda letter: shares[letter])
        return DecisionReply(answers=[Answer(name="better", letter=letter, probabilities=shares)])
    return answer(chat.task, prompt, heuristics)


def confused(chat: ChatRequest) -> BaseModel | str:
    """A model that writes the example of the instructions, whatever is asked."""
    return '{"labels": ["n1 s 3"]}'


def undecided(chat: ChatRequest) -> BaseModel | str:
    """A model that always prefers the first answer."""
    return VerdictReply(reasoning="x", winner="first") if chat.task == "verdict" else able(chat)


def asked(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Result:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("API_KEY", "BASE_URL"):
        monkeypatch.delenv(f"NUGGETSTREAM_LLM_{name}", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(f"NUGGETSTREAM_LLM_{name}", value)
    return CliRunner().invoke(doctor.command, ["--model"])


async def of_server(monkeypatch: pytest.MonkeyPatch, answers: Answering, faults: Faults) -> Result:
    async with running(create_app(None, faults, reply_to=answers)) as url:
        return await asyncio.to_thread(asked, monkeypatch, BASE_URL=url, MODEL="small")


BY_CHAT = Faults(decisions=False)


async def test_a_model_that_answers_everything_is_told_its_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    result = await of_server(monkeypatch, able, BY_CHAT)
    assert result.exit_code == 0, result.output
    first, *lines = result.output.splitlines()
    assert first.startswith("asking small at http://127.0.0.1:")
    assert sum("right at once" in line for line in lines) == 7
    assert "JSON schemas with the form of lines, streamed replies" in result.output
    assert "tokens per second are written" in lines[-3]
    assert lines[-2].strip() == "its price is unknown: set NUGGETSTREAM_LLM_PRICES to count money"
    assert lines[-1].startswith(
        "ok   this model can do the job: profile live suits it; others that it could do: frugal, small, paper"
    )


async def test_what_an_endpoint_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = Faults(decisions=False, logprobs=False, structured_outputs=False, streaming=False)
    result = await of_server(monkeypatch, able, faults)
    assert result.exit_code == 0, result.output
    assert "no structured outputs, whole replies" in result.output


async def test_a_model_that_fails_at_an_order_of_the_judge_has_the_profile_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = await of_server(monkeypatch, undecided, BY_CHAT)
    assert result.exit_code == 0, result.output
    assert (
        "FAIL verdict in both orders: wrong, though easy: first, and first in the other order"
        in result.output
    )
    assert (
        result.output.splitlines()[-1]
        == "ok   this model can do the job: profile frugal suits it; others that it could do: small"
    )


async def test_a_model_that_cannot_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    result = await of_server(monkeypatch, confused, BY_CHAT)
    assert result.exit_code == 1
    assert "FAIL nuggets of an answer: two replies of small in a row could not be used" in result.output
    assert (
        "FAIL this model cannot do the job: it fails at importance, label decisions, labels, "
        "labels one by one, nuggets, verdict decisions, verdicts" in (result.output)
    )


def test_without_an_endpoint_the_offline_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch)
    assert result.output.startswith("asking the offline heuristics")
    assert "ok   labels of nuggets: right at once" in result.output


@pytest.mark.slow
def test_an_endpoint_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch, BASE_URL="http://127.0.0.1:9/v1", MODEL="m", ATTEMPTS="1")
    assert result.exit_code == 1
    assert "FAIL model: the model cannot be reached" in result.output
