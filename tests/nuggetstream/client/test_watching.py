"""A stream of events that breaks is resumed, by both clients."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import httpx2
import pytest

from nuggetstream.client import AsyncClient, Client, Ended, Happened, Unavailable, UnexpectedReply
from nuggetstream.client.following import Watched
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.progress import BattleState
from nuggetstream.views.events import FailedEvent

COMMON = '"battle_id": "x", "arena": "demo", "number": 1, "at": "2025-05-04T12:00:00Z"'
FAILED = (
    f'{{"kind": "failed", {COMMON}, "stage": "judge", "evaluator": null, "reason": "llm_refused", '
    '"detail": "", "attempts": 1}'
)


def event(number: int) -> str:
    return f"id: {number}\nevent: failed\ndata: {FAILED}\n\n"


ENDING = (
    f'{{"kind": "ended", {COMMON}, "state": "partial", '
    '"preferences": {"human": null, "nugget": null, "judge": null}, "explanation": []}'
)
ENDED = f"event: ended\ndata: {ENDING}\n\n"


class Broken(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that breaks after its text, as when the other side dies."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __iter__(self) -> Iterator[bytes]:
        yield self._text.encode()
        raise httpx2.ReadError("connection reset")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._text.encode()
        raise httpx2.ReadError("connection reset")


def stream(text: str, *, breaks: bool = False) -> httpx2.Response:
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    if breaks:
        return httpx2.Response(200, headers=headers, stream=Broken(text))
    return httpx2.Response(200, headers=headers, content=text.encode())


class Script(httpx2.MockTransport):
    """A platform that answers with these replies in turn, and what it was asked to resume after."""

    def __init__(self, *replies: httpx2.Response | httpx2.TransportError) -> None:
        super().__init__(self._answer)
        self._replies = iter(replies)
        self.resumed: list[str | None] = []

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        assert request.url.path == "/v1/battles/x/events"
        self.resumed.append(request.headers.get("last-event-id"))
        answer = next(self._replies)
        if isinstance(answer, httpx2.TransportError):
            raise answer
        return answer


def watched(script: Script, after: int = 0, patience: float = 10.0) -> list[Watched]:
    with Client("http://platform", transport=script, patience=patience) as client:
        return list(client.watch("x", after))


def watched_asynchronously(script: Script, after: int = 0, patience: float = 10.0) -> list[Watched]:
    async def collect() -> list[Watched]:
        async with AsyncClient("http://platform", transport=script, patience=patience) as client:
            return [item async for item in client.watch("x", after)]

    return asyncio.run(collect())


Watch = Callable[..., list[Watched]]
both = pytest.mark.parametrize("watch", [watched, watched_asynchronously])


def numbers(items: Sequence[Watched]) -> list[int]:
    return [item.number for item in items if isinstance(item, Happened)]


def states(items: Sequence[Watched]) -> list[BattleState]:
    return [item.state for item in items if isinstance(item, Ended)]


@both
def test_a_broken_stream_goes_on_after_the_event_seen_last(watch: Watch) -> None:
    script = Script(
        stream(event(1) + event(2) + event(3)[:20], breaks=True),
        httpx2.ConnectError("refused"),
        httpx2.Response(503, json={"error": "away"}, headers={"retry-after": "0"}),
        stream(event(3)),  # the platform leaves: the stream ends before the battle
        stream(event(4) + ENDED),
    )
    items = watch(script)
    assert numbers(items) == [1, 2, 3, 4]
    assert states(items[-1:]) == [BattleState.PARTIAL]
    assert script.resumed == [None, "2", "2", "2", "3"]
    assert isinstance(items[0], Happened)
    assert isinstance(items[0].event, FailedEvent)
    assert items[0].event.reason is Reason.LLM_REFUSED


@both
def test_comments_and_an_end_without_events_are_understood(watch: Watch) -> None:
    assert states(watch(Script(stream(": ping\n\n" + ENDED)))) == [BattleState.PARTIAL]
    script = Script(httpx2.Response(204))
    assert watch(script, after=7) == []
    assert script.resumed == ["7"]


@both
def test_a_platform_that_stays_away_ends_the_watching(watch: Watch) -> None:
    with pytest.raises(Unavailable, match="does not answer: refused"):
        watch(Script(httpx2.ConnectError("refused")), patience=0)
    with pytest.raises(Unavailable, match="does not answer: connection reset"):
        watch(Script(stream(event(1), breaks=True)), patience=0)
    with pytest.raises(Unavailable, match="the events of 'x' end before the battle does"):
        watch(Script(stream(event(1))), patience=0)


@both
@pytest.mark.parametrize(
    ("media_type", "body", "problem"),
    [
        ("text/html", "<p>It works!</p>", "answers 'text/html' and no stream of events"),
        ("text/event-stream", "id: 1\nevent: invented\ndata: {}\n\n", "event 'invented' is not known"),
        (
            "text/event-stream",
            event(1).replace("llm_refused", "tired"),
            "event 'failed' does not fit: failed.reason: ",
        ),
        (
            "text/event-stream",
            ENDED.replace("partial", "perhaps"),
            "event 'ended' does not fit: ended.state: ",
        ),
    ],
)
def test_what_is_no_event_of_this_api_is_not_passed_over(
    watch: Watch, media_type: str, body: str, problem: str
) -> None:
    foreign = httpx2.Response(200, headers={"content-type": media_type}, content=body.encode())
    with pytest.raises(UnexpectedReply, match=problem):
        watch(Script(foreign))
