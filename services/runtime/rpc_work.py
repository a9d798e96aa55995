"""The battle that a gRPC call is made for, as metadata of the call, so that its cost can be booked."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from services.runtime import work
from services.runtime.work import Work

# Ids and arenas may have any characters; only values of names that end in -bin may, too.
_BATTLE, _ARENA = "nuggetstream-battle-bin", "nuggetstream-arena-bin"


def metadata_of_work() -> tuple[tuple[str, bytes], ...]:
    """Metadata that names the battle of the current task; none where there is no battle."""
    subject = work.current()
    if subject is None:
        return ()
    return (_BATTLE, subject.battle_id.encode()), (_ARENA, subject.arena.encode())


@contextmanager
def work_of(metadata: Iterable[tuple[str, str | bytes]] | None) -> Iterator[None]:
    """A scope in which the current task works on the battle that a caller named.

    Args:
        metadata: Metadata of a call; names that are not ours, and values that are not UTF-8, are ignored.
    """
    named = {name: value for name, value in metadata or () if isinstance(value, bytes)}
    with work.delivery():
        if _BATTLE in named and _ARENA in named:
            battle_id, arena = (named[name].decode("utf-8", "replace") for name in (_BATTLE, _ARENA))
            work.begin(Work(battle_id, arena))
        yield
