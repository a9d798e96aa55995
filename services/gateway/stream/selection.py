"""Which events a client wants."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from nuggetstream.views.events import KINDS
from services.gateway.errors import InvalidQuery
from services.gateway.stream.reading import StreamEvent


def require_known(kinds: Iterable[str], allowed: Collection[str] = KINDS) -> None:
    """Check that there are events of some kinds.

    Raises:
        InvalidQuery: There are none of one; the message names it.
    """
    if unknown := sorted(set(kinds) - set(allowed)):
        raise InvalidQuery([f"kinds: there are no events {', '.join(unknown)}"])


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter of events; what is None or empty selects everything.

    Attributes:
        arenas: Arenas of the battles.
        system: A system that answers.
        tag: A tag of the battle.
        language: Language tag of the battle, declared or detected.
        kinds: Kinds of the events.
    """

    arenas: frozenset[str] | None = None
    system: str | None = None
    tag: str | None = None
    language: str | None = None
    kinds: frozenset[str] = frozenset()

    def selects(self, event: StreamEvent) -> bool:
        """Whether the client wants an event."""
        row = event.row
        languages = {row.language, None if row.detected is None else row.detected.tag}
        return (
            (self.arenas is None or row.arena in self.arenas)
            and (self.system is None or self.system in (row.system_a, row.system_b))
            and (self.tag is None or self.tag in row.tags)
            and (self.language is None or self.language in languages)
            and (not self.kinds or event.view.kind in self.kinds)
        )
