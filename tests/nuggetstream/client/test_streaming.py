"""What a client remembers while it follows many battles."""

from collections.abc import Iterator
from typing import Any

import httpx2

from nuggetstream.client.patience import Patience
from nuggetstream.client.streaming import Streaming

SECOND = 1_000_000


def sent(number: int, position: int) -> httpx2.ServerSentEvent:
    data = (
        f'{{"kind": "failed", "battle_id": "b{number}", "arena": "demo", "number": 1,'
        '"at": "2026-05-04T12:00:00Z",'
        '"stage": "judge", "evaluator": null, "reason": "llm_refused", "detail": "", "attempts": 1}'
    )
    return httpx2.ServerSentEvent(event="failed", data=data, id=str(position))


class Looked(dict[Any, int]):
    """A memory that counts how many of its entries are looked at one by one."""

    looked = 0

    def values(self) -> Any:
        Looked.looked += len(self)
        return super().values()

    def items(self) -> Any:
        Looked.looked += len(self)
        return super().items()

    def __iter__(self) -> Iterator[Any]:
        Looked.looked += len(self)
        return super().__iter__()


def streaming() -> Streaming:
    return Streaming(patience=Patience(0.0), selection=(), after=None)


def test_an_event_costs_the_same_however_many_came_before_it() -> None:
    followed = streaming()
    followed.received(sent(0, 1000 * SECOND))
    followed._seen = Looked(followed._seen)
    for number in range(1, 1000):
        assert followed.received(sent(number, 1000 * SECOND + number)) is not None
    assert Looked.looked <= 1000


def test_events_come_once_and_old_ones_are_forgotten() -> None:
    followed = streaming()
    for second in range(1000):
        position = (1000 + second) * SECOND
        assert followed.received(sent(second, position)) is not None
        for earlier in range(max(0, second - 15), second + 1):  # the platform sends 15 seconds again
            assert followed.received(sent(earlier, (1000 + earlier) * SECOND)) is None
        assert len(followed._seen) <= 70
