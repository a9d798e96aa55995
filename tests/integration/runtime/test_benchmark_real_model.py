"""What the benchmark of real models counts, and the replies that it records."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx2
import openai
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from benchmarks.real_model.evaluation import Call, by_stage, position_bias, replies
from benchmarks.real_model.labels import YES_OR_NO, Case, chosen, label, one_by_one, read, right
from benchmarks.real_model.quoting import Sources, restored
from benchmarks.real_model.recording import Recorder, Replies, key_of, said
from services.judge.verdicts import pairwise
from services.offline.answers import Unanswerable
from services.offline.app import create_app
from services.offline.requests import ChatRequest
from services.offline.serve import running
from services.runtime.llm.dialect import Dialect, ModelRequest

ANSWERS = ("The tower is 330 metres tall.", "It stands in Paris.")


@asynccontextmanager
async def recording(model: str, lines: io.StringIO) -> AsyncIterator[openai.AsyncOpenAI]:
    """A client of a proxy that records the replies of a model."""
    async with httpx2.AsyncClient() as behind:
        recorder = Recorder(model, lines, behind)
        proxy = Starlette(routes=[Route("/v1/chat/completions", recorder.chat, methods=["POST"])])
        async with (
            running(proxy) as url,
            openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client,
        ):
            yield client


def request(
    answers: tuple[str, str] = ANSWERS, evidence: Sequence[str] = (), further: Sequence[str] = ()
) -> dict[str, object]:
    prompt = pairwise.prompt("How tall is the tower?", *answers, evidence)
    asked = Dialect(stream=False).parameters(ModelRequest.of(prompt))
    asked.pop("prompt_cache_key")
    return asked | {
        "messages": [*prompt.messages(), *({"role": "user", "content": text} for text in further)]
    }


def chat(**changes: object) -> ChatRequest:
    return ChatRequest.model_validate(request(**changes))  # type: ignore[arg-type]


def test_a_reply_is_found_by_query_and_answers_alone() -> None:
    assert key_of(chat(evidence=["A passage."])) == key_of(chat())
    assert len({key_of(chat()), key_of(chat(answers=ANSWERS[::-1])), key_of(chat(further=["Again."]))}) == 3


@pytest.mark.parametrize("stream", [False, True])
async def test_a_recorded_reply_is_given_again(stream: bool) -> None:
    lines = io.StringIO()
    async with running(create_app(None)) as model, recording(model, lines) as client:
        reply = await client.with_raw_response.chat.completions.create(
            model="m",
            stream=stream,
            **request(),  # type: ignore[call-overload]
        )
        received = await reply.http_response.aread()
    text, finish, _ = said(received.decode())
    assert json.loads(text)["winner"] == "first"
    assert finish == "stop"
    [line] = map(json.loads, lines.getvalue().splitlines())
    assert (line["task"], line["finish"], line["text"]) == ("verdict", "stop", text)
    assert not any(answer in json.dumps(line) for answer in ANSWERS)
    recorded = Replies([json.dumps(line)])
    assert [recorded(chat()), recorded(chat())] == [text, text]
    with pytest.raises(Unanswerable, match="no reply of task 'verdict' was recorded"):
        recorded(chat(answers=("Another.", "One.")))


async def test_a_reply_that_the_client_cuts_is_recorded_as_far_as_it_came() -> None:
    lines, cut = io.StringIO(), asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield 'data: {"choices": [{"index": 0, "delta": {"content": "They fall. "}}]}\n\n'
                await asyncio.sleep(0)
        finally:
            cut.set()

    async def chat(_: Request) -> StreamingResponse:
        return StreamingResponse(endless(), media_type="text/event-stream")

    model = Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])
    async with running(model) as url, recording(url, lines) as client:
        stream = await client.chat.completions.create(
            model="m",
            stream=True,
            **request(),  # type: ignore[call-overload]
        )
        async for _ in stream:
            break
        await stream.close()
        await asyncio.wait_for(cut.wait(), 60)
        while not lines.getvalue():
            await asyncio.sleep(0)
    line = json.loads(lines.getvalue())
    assert line["text"].startswith("They fall. ")
    assert line["finish"] is None


async def test_an_error_of_the_model_is_passed_on_and_not_recorded() -> None:
    lines = io.StringIO()
    async with running(Starlette()) as nothing, recording(nothing, lines) as client:
        with pytest.raises(openai.NotFoundError):
            await client.chat.completions.create(model="m", **request())  # type: ignore[call-overload]
    assert lines.getvalue() == ""


def test_comments_of_a_stream_are_no_part_of_a_reply() -> None:
    event = json.dumps({"choices": [{"index": 0, "delta": {"content": "Tea."}, "finish_reason": "stop"}]})
    assert said(f": wait\n\ndata: {event}\n\ndata: [DONE]\n\n") == ("Tea.", "stop", [])
    assert said(": wait\n\n") == ("", None, [])


def call(outcome: str, *, repair: bool = False, detail: str = "", tokens: int | None = 10) -> Call:
    return Call("judge", outcome, repair, 2.0, tokens, tokens, detail)


def test_replies_are_counted_by_when_they_were_usable() -> None:
    calls = [
        call("answered"),
        call("unusable", detail="not a line like 'n1 v'"),
        call("answered", repair=True),
        call("unusable", detail="missing ids: n2"),
        call("unusable", repair=True, detail="the reply repeats itself"),
        call("cancelled"),
        call("failed"),
    ]
    assert replies(calls) == (
        "replies usable at once 1 of 3, after a repair 1, never 1; faults: form of a line 1, missing, "
        "unknown or repeated ids 1, repeats itself 1; calls cut by deadlines 1, without a reply 1"
    )


def test_calls_that_nobody_counted_are_not_taken_for_free() -> None:
    [line] = by_stage([call("answered"), call("answered", tokens=None)], 2)
    assert " ".join(line.split()) == ("judge 1.0 calls 2.0 s 5 tokens read 5 written, without 1 calls")


def test_position_bias_counts_battles_with_another_winner_in_the_other_order() -> None:
    def battle(*winners: str) -> dict[str, object]:
        verdicts = [{"first": f, "winner": w} for f, w in zip("ab", winners, strict=False)]
        return {"judgments": [{"verdicts": verdicts}]}

    assert position_bias([battle("a", "a"), battle("a", "b"), battle("tie", "b"), battle("a")]) == (
        "position bias: of 3 battles 2 have another winner in the other order; of 6 verdicts 4 are for the "
        "first answer, 1 are ties"
    )
    assert position_bias([battle("a")]) == "position bias: no battle was judged in both orders"


def test_thresholds_are_those_with_most_right_labels() -> None:
    case = Case("Why?", "So.", {"One.": "s", "Two.": "p", "Three.": "n", "Four.": "c"})
    shares = [[0.9, 0.7, 0.3, 0.2]]
    low, high = chosen(shares, [case])
    assert 0.3 < low <= 0.7 < high <= 0.9
    labels = [label(share, low, high) for share in shares[0]]
    assert right([labels], [case], {}) == [True, True, True, False]
    assert right([labels], [case], {"contradiction": "not_support"}) == [True] * 4


def test_questions_about_nuggets_of_one_answer_begin_alike() -> None:
    # A server that keeps what it has read then reads the answer once for all nuggets.
    case = read()[0]
    first, second = (
        one_by_one(case, nugget, *YES_OR_NO).messages()[-1]["content"] for nugget in list(case.nuggets)[:2]
    )
    assert case.answer in first
    same = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    assert first.index(case.answer) + len(case.answer) < same


def test_what_a_reply_copies_is_kept_as_a_reference() -> None:
    texts = {
        "battle/a": "Tides follow the moon twice a day.",
        "page": 'It said: \\"Tides follow the sun.\\" Or not.',
    }
    copied = '"v a1: Tides follow the moon twice a day.", "o c1: It said: \\"Tides follow the sun. So."'
    reply = f'{{"nuggets": [{copied}]}}'
    parts = Sources(texts).referring(reply)
    assert [part[0] for part in parts if not isinstance(part, str)] == ["battle/a", "page"]
    assert not any("Tides" in part for part in parts if isinstance(part, str))
    [line] = restored(iter([json.dumps({"key": "k", "text": parts})]), texts)
    assert json.loads(line) == {"key": "k", "text": reply}
    assert Sources(texts).referring("Tides follow nothing.") == ["Tides follow nothing."]
