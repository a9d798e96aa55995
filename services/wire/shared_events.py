"""Events with their bodies, which the stages of one process share: events are immutable.

seal    remembers the event and its body, so that the next stage of this process need not decode it
decode  remembers them for the other stages that receive the same bytes
encode  gives the body of a remembered event again, so that the recorder need not encode it
"""

from collections import OrderedDict
from threading import Lock

from nuggetstream.domain.event import Event

_EVENTS = 256
_LARGEST_BODY = 64 * 1024  # bytes; a larger event is not remembered


class SharedEvents:
    """The events that were sealed or decoded last, by schema and body, and their bodies.

    Args:
        events: Maximum number of events.
        largest: Bytes of the largest body.
    """

    def __init__(self, events: int = _EVENTS, largest: int = _LARGEST_BODY) -> None:
        self._limit, self._largest = events, largest
        self._events: OrderedDict[tuple[str, bytes], Event] = OrderedDict()
        self._bodies: dict[int, bytes] = {}  # by id of the event, which exists as long as it is remembered
        self._lock = Lock()

    def event(self, schema: str, body: bytes) -> Event | None:
        """The event in a body; None where it is not remembered."""
        if len(body) > self._largest:
            return None
        with self._lock:
            event = self._events.get((schema, body))
            if event is not None:
                self._events.move_to_end((schema, body))
            return event

    def body(self, event: Event) -> bytes | None:
        """The body of this very object; None where it is not remembered."""
        return self._bodies.get(id(event))

    def remember(self, schema: str, body: bytes, event: Event) -> None:
        """Remember an event and its body, unless these bytes are remembered already."""
        if len(body) > self._largest:
            return
        with self._lock:
            if (schema, body) in self._events or id(event) in self._bodies:
                return
            self._events[schema, body] = event
            self._bodies[id(event)] = body
            if len(self._events) > self._limit:
                _, forgotten = self._events.popitem(last=False)
                del self._bodies[id(forgotten)]
