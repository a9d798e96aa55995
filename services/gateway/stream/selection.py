"""Which events a client wants."""

from dataclasses import dataclass
from enum import StrEnum

from services.gateway.stream.reading import StreamEvent


class Kind(StrEnum):
    """Kinds of events."""

    SUBMITTED = "submitted"
    SCRAPED = "scraped"
    INDEXED = "indexed"
    RETRIEVED = "retrieved"
    NUGGETIZED = "nuggetized"
    ASSIGNED = "assigned"
    JUDGED = "judged"
    GRADED = "graded"
    VOTED = "voted"
    FAILED = "failed"
    ENDED = "ended"


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
