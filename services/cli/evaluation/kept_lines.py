"""The battles of a file while they are evaluated: their texts are kept on disk, not in memory.

    file ──> read and checked once ──> a temporary file of submissions, as they are posted
                                  └──> per battle: line, id, arena, hash and human reference

The file itself is not read again: it may be a pipe, and it may change meanwhile.
"""

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.domain.identity import derived_id, same_query
from nuggetstream.files.dataset import BattleLine


@dataclass(frozen=True, slots=True)
class KeptLine:
    """One battle of a file.

    Attributes:
        line: Its number, from 1.
        id: Id of the battle, as submitted or derived from the content.
        arena: Its arena.
        content_hash: Hash of its content.
        reference: Human preference per dimension; "vote" for a plain vote.
        reasoning: Number of its answers that come with reasoning, which is not evaluated.
        vote: The human vote that came with the battle; None without one.
        query: Which battles have the same query, in the same arena.
        keeper: Where its submission is.
        start: Its first byte there.
        size: Bytes of the submission.
    """

    line: int
    id: str
    arena: str
    content_hash: str
    reference: Mapping[str, Vote]
    reasoning: int
    vote: HumanVote | None
    query: str
    keeper: "Keeper"
    start: int
    size: int

    def submission(self) -> bytes:
        """The battle as `POST /v1/battles` takes it."""
        return self.keeper.read(self.start, self.size)


class Keeper:
    """A temporary file of submissions, removed with this object.

    Args:
        folder: Where to keep it, created when missing; by default the folder for temporary files, which on
            some systems is in memory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None

    def keep(self, line: BattleLine) -> KeptLine:
        """Keep one battle.

        Raises:
            OSError: The file cannot be written, for instance because the disk is full.
        """
        file = self._opened()
        start = file.seek(0, 2)
        size = file.write(line.submission.model_dump_json(exclude_none=True).encode())
        battle = line.submission.to_core()
        return KeptLine(
            line=line.line,
            id=battle.id,
            arena=battle.arena,
            content_hash=battle.content_hash(),
            reference=line.reference,
            reasoning=sum(answer.reasoning is not None for answer in (battle.a, battle.b)),
            vote=line.submission.human_vote,
            query=derived_id(battle.arena, same_query(battle.query)),
            keeper=self,
            start=start,
            size=size,
        )

    def read(self, start: int, size: int) -> bytes:
        """Some bytes of the file."""
        file = self._opened()
        file.seek(start)
        return file.read(size)

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            if self._folder is not None:
                self._folder.mkdir(parents=True, exist_ok=True)
            self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 - it is closed with this object
            weakref.finalize(self, self._file.close)
        return self._file


def kept(lines: Iterable[BattleLine]) -> list[KeptLine]:
    """Keep a few battles in a temporary file of their own."""
    keeper = Keeper()
    return [keeper.keep(line) for line in lines]
