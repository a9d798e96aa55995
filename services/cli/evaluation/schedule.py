"""Which battles of a file are sent next.

Battles with one query may share a nugget list, which each extends. They are sent in the order of their
contents, each once the one before it has its list: so the lists, and with them the boards, do not depend on
the order of the file or on what happens to be faster.
"""

from collections import deque
from collections.abc import Collection, Iterable

from services.cli.evaluation.kept_lines import KeptLine


class Schedule:
    """The battles that still have to be sent.

    Args:
        lines: The battles, each once.
        in_order: Whether battles with one query wait for each other.
    """

    def __init__(self, lines: Iterable[KeptLine], *, in_order: bool) -> None:
        queues: dict[str, list[KeptLine]] = {}
        for line in lines:
            queues.setdefault(line.query if in_order else line.id, []).append(line)
        self._ready = deque(
            deque(sorted(queue, key=lambda line: (line.content_hash, line.id))) for queue in queues.values()
        )
        self._behind: dict[str, deque[KeptLine]] = {}  # what waits for a battle, by its id

    def __bool__(self) -> bool:
        """Whether there are battles left to send."""
        return bool(self._ready or self._behind)

    @property
    def awaited(self) -> Collection[str]:
        """Ids of the battles that others wait for."""
        return self._behind.keys()

    def take(self, most: int, size: int) -> list[KeptLine]:
        """The battles to send now.

        Args:
            most: Maximum number of battles.
            size: Bytes of submissions from which no more is added.
        """
        lines: list[KeptLine] = []
        while self._ready and len(lines) < most and sum(line.size for line in lines) < size:
            queue = self._ready.popleft()
            line = queue.popleft()
            lines.append(line)
            if queue:
                self._behind[line.id] = queue
        return lines

    def release(self, ids: Iterable[str]) -> None:
        """Let those go that wait for battles."""
        for battle_id in ids:
            if (queue := self._behind.pop(battle_id, None)) is not None:
                self._ready.append(queue)
