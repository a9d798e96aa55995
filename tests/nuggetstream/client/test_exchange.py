"""What is repeated, how often, and which error tells what happened; without any network."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from nuggetstream.client import AsyncClient, Client, calls
from nuggetstream.client.batches import Batches, Line, submission
from nuggetstream.client.battles import Battles
from nuggetstream.client.errors import (
    Conflict,
    InternalError,
    Invalid,
    NotFound,
    NuggetstreamError,
    Unavailable,
    UnexpectedReply,
)
from nuggetstream.client.exchange import Pause, exchange
from nuggetstream.client.patience import Patience
from nuggetstream.client.requests import Asking
from nuggetstream.domain.battle import Vote
from nuggetstream.views.battles import Submitted
from nuggetstream.views.votes import VoteReceipt

REQUEST = httpx2.Request("GET", "http://platform/v1/battles")
BATTLE = {"query": "q", "a": {"system": "x", "text": "1"}, "b": {"system": "y", "text": "2"}}


def test_a_client_shows_its_address_without_a_secret() -> None:
    assert repr(Client(key="secret")) == "Client(URL('http://127.0.0.1:8080'))"
    shown = repr(AsyncClient("http://ada:secret@arena.example", key="secret"))
    assert shown == "AsyncClient(URL('http://ada:[secure]@arena.example'))"


class Described(Battles, Asking):
    """Sends nothing: what a client would ask is what it returns."""

    def _ask(self, call: calls.Call[Any]) -> Any:
        return call


REQUESTS: Any = Described()


def reply(status: int, body: object, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.Response(status, content=content, headers=named, request=REQUEST)


def away(kind: type[httpx2.TransportError] = httpx2.ConnectError) -> httpx2.TransportError:
    return kind("refused", request=REQUEST)


def patience(seconds: float, tick: float = 0.0) -> Patience:
    """Patience on a clock that moves by `tick` whenever it is read; every draw is one half."""
    readings = iter(range(1_000_000))
    return Patience(seconds, lambda: tick * next(readings), lambda: 0.5)


ACCEPTED = reply(202, {"battle_id": "x", "created": True})
VOTED = reply(202, {"battle_id": "x", "vote": "a"})


def played(
    call: calls.Call[object], *happens: httpx2.Response | httpx2.TransportError
) -> tuple[object, list[float]]:
    """The result of a call to which these things happen in turn, and the pauses between them."""
    steps = exchange(call, patience(10))
    step = next(steps)
    pauses = []
    try:
        for event in happens:
            while isinstance(step, Pause):
                pauses.append(step.seconds)
                step = steps.send(None)
            step = steps.throw(event) if isinstance(event, httpx2.TransportError) else steps.send(event)
    except StopIteration as stop:
        return stop.value, pauses
    pytest.fail(f"it goes on with {step}")


def test_a_submission_is_repeated_whatever_got_lost() -> None:
    result, pauses = played(
        REQUESTS.submit(BATTLE),
        away(),
        away(httpx2.ReadTimeout),
        away(httpx2.RemoteProtocolError),
        reply(502, b"<html>"),
        ACCEPTED,
    )
    assert result == Submitted(battle_id="x", created=True)
    assert pauses == [0.1, 0.2, 0.4, 0.8]


def test_the_platform_says_how_long_it_wants_to_be_left_alone() -> None:
    def busy(seconds: str) -> httpx2.Response:
        return reply(503, {"error": "the broker does not answer"}, retry_after=seconds)

    assert played(REQUESTS.submit(BATTLE), busy("3"), ACCEPTED)[1] == [3.1]
    with pytest.raises(Unavailable, match="the broker does not answer") as error:
        played(REQUESTS.submit(BATTLE), busy("60"))
    assert error.value.retry_after == 60.0


def test_patience_ends_after_its_seconds_and_not_after_some_number_of_tries() -> None:
    steps = exchange(REQUESTS.battles(), patience(10, tick=0.5))
    next(steps)
    tries = 0

    def try_until_it_gives_up() -> None:
        nonlocal tries
        while True:
            tries += 1
            assert isinstance(steps.throw(away()), Pause)
            steps.send(None)

    with pytest.raises(Unavailable, match=r"http://platform/v1/battles does not answer: refused"):
        try_until_it_gives_up()
    assert tries == 19  # the clock is read once a try; after 9.5 s, another pause of 1 s would end too late


def test_a_vote_is_repeated_only_where_it_cannot_have_been_taken_in() -> None:
    vote = REQUESTS.vote("x", "a")
    for harmless in (away(), away(httpx2.ConnectTimeout), reply(503, {"error": "away"}), reply(429, b"")):
        assert played(vote, harmless, VOTED)[0] == VoteReceipt(battle_id="x", vote=Vote.A)
    lost = away(httpx2.ReadTimeout), away(httpx2.RemoteProtocolError), reply(502, b""), reply(504, b"")
    for unclear in lost:
        with pytest.raises(Unavailable):
            played(vote, unclear, VOTED)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, NotFound), (409, Conflict), (413, Invalid), (415, Invalid), (422, Invalid), (500, InternalError)],
)
def test_what_the_platform_refuses_is_not_asked_again(status: int, kind: type[NuggetstreamError]) -> None:
    with pytest.raises(kind, match="because"):
        played(REQUESTS.submit(BATTLE), reply(status, {"error": "because", "problems": []}))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>It works!</html>"),
        (404, b"<html>Not found</html>"),
        (301, b""),
        (200, b'{"battle_id": 7}'),
        (402, b'{"error": "not for you"}'),
    ],
)
def test_another_server_is_not_mistaken_for_the_platform(status: int, body: bytes) -> None:
    with pytest.raises(UnexpectedReply, match=f"GET http://platform/v1/battles answers {status}"):
        played(REQUESTS.submit(BATTLE), reply(status, body))


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://x", "http://", "", "http://[::1"])
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="url: "):
        calls.base_url(url)


def lines_reply(*statuses: int) -> httpx2.Response:
    rows = [{"line": number, "status": status} for number, status in enumerate(statuses, start=1)]
    return reply(200, "\n".join(map(json.dumps, rows)).encode())


def batch(count: int) -> list[Line]:
    batches = Batches()
    assert not any(batches.add(BATTLE | {"id": f"b{number}"}) for number in range(count))
    return batches.rest()


def sent(step: object) -> list[str]:
    assert isinstance(step, calls.Call)
    assert step.body is not None
    return [json.loads(line)["id"] for line in step.body.splitlines()]


def finished(send: Callable[[], Any]) -> list[tuple[int, int]]:
    with pytest.raises(StopIteration) as stop:
        send()
    return [(result.line, result.status) for result in stop.value.value]


def test_only_the_lines_that_met_an_unavailable_platform_are_sent_again() -> None:
    steps = submission(batch(4), patience(10))
    assert sent(next(steps)) == ["b0", "b1", "b2", "b3"]
    assert isinstance(steps.send(lines_reply(202, 503, 422, 503)), Pause)
    assert sent(steps.send(None)) == ["b1", "b3"]
    assert isinstance(steps.send(lines_reply(503, 200)), Pause)
    assert sent(steps.send(None)) == ["b1"]
    assert finished(lambda: steps.send(lines_reply(202))) == [(1, 202), (2, 202), (3, 422), (4, 200)]


def test_a_batch_whose_reply_is_lost_is_sent_again_as_a_whole() -> None:
    steps = submission(batch(2), patience(10))
    assert sent(next(steps)) == ["b0", "b1"]
    assert isinstance(steps.throw(away(httpx2.ReadError)), Pause)
    assert sent(steps.send(None)) == ["b0", "b1"]
    assert finished(lambda: steps.send(lines_reply(200, 202))) == [(1, 200), (2, 202)]


def test_without_patience_the_lines_say_themselves_that_they_were_not_taken() -> None:
    steps = submission(batch(2), patience(0))
    next(steps)
    assert finished(lambda: steps.send(lines_reply(202, 503))) == [(1, 202), (2, 503)]


def test_a_result_too_few_is_noticed() -> None:
    steps = submission(batch(2), patience(10))
    next(steps)
    with pytest.raises(UnexpectedReply, match="2 lines were sent and 1 results came back"):
        steps.send(lines_reply(202))


def test_a_batch_ends_by_lines_or_by_bytes() -> None:
    batches = Batches()
    small = [batches.add(BATTLE) for _ in range(100)]
    assert [len(lines) for lines in small] == [0] * 99 + [100]
    assert len(batches.add(BATTLE | {"id": "x" * 2_000_000})) == 1
    assert batches.add(BATTLE) == []
    assert [line.number for line in batches.rest()] == [102]
