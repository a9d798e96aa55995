"""What a client remembers while it follows many battles."""

import httpx2
import pytest

from nuggetstream.client import UnexpectedReply
from nuggetstream.client.patience import Patience
from nuggetstream.client.streaming import Streaming

FAILED = (
    '{"kind": "failed", "battle_id": "b1", "arena": "demo", "number": 1, "at": "2026-05-04T12:00:00Z",'
    '"stage": "judge", "evaluator": null, "reason": "llm_refused", "detail": "", "attempts": 1}'
)


def test_a_stream_that_breaks_goes_on_where_it_began_or_after_its_last_event() -> None:
    streaming = Streaming.of((), None, Patience(0.0))
    assert streaming.headers == {}
    assert streaming.received(httpx2.ServerSentEvent(id="7")) is None
    assert streaming.headers == {"Last-Event-ID": "7"}
    streamed = streaming.received(httpx2.ServerSentEvent(event="failed", data=FAILED, id="12"))
    assert streamed is not None
    assert (streamed.position, streamed.event.battle_id) == (12, "b1")
    assert streaming.headers == {"Last-Event-ID": "12"}
    with pytest.raises(UnexpectedReply, match="id 'x'"):
        streaming.received(httpx2.ServerSentEvent(event="failed", data=FAILED, id="x"))
