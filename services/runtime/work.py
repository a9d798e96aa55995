"""The battle that the current task works on: for log lines, and for metrics by arena."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import structlog


@dataclass(frozen=True, slots=True)
class Work:
    """What a message is about.

    Attributes:
        battle_id: Id of the battle.
        arena: Arena that sent the battle.
        evaluator: Name of the judge or evaluator that works on it; None for other stages and a single judge.
        texts: Returns the texts of the message, which are recorded with it.
    """

    battle_id: str
    arena: str
    evaluator: str | None = None
    texts: Callable[[], list[str]] | None = field(default=None, compare=False)


_current: ContextVar[Work | None] = ContextVar("work", default=None)


def current() -> Work | None:
    """What the current task works on; None outside of the handling of a message."""
    return _current.get()


@contextmanager
def delivery() -> Iterator[None]:
    """A scope that forgets what `begin` was told in it."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)
        structlog.contextvars.unbind_contextvars("battle_id", "arena")


def begin(work: Work) -> None:
    """Name the battle in the log lines and metrics of this task, until the scope of the delivery ends."""
    _current.set(work)
    structlog.contextvars.bind_contextvars(battle_id=work.battle_id, arena=work.arena)
