"""Answers of several systems to the same queries, as battles: every two answers to a query are one.

The texts are kept in a temporary file, so memory holds an index alone. Which of two systems is A follows from
a hash of query and systems, so that no system is always shown first.
"""

import json
import re
import weakref
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import combinations
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias

from nuggetstream.domain.system_name import system_name
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.format import Source, checked
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.submission import InvalidSubmission

DOCUMENT = "docid:"  # before the id of a document, in the URL of a source
URL = re.compile(r"https?://|inline:")
Pair: TypeAlias = tuple[str, str, str]
"""A topic, and two systems that answer it."""


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The answer of one system to one query.

    Attributes:
        topic: Id of the query.
        query: Its text.
        system: Name of the system, such as the id of a run, as `system_of` spells it.
        text: The answer.
        sources: The documents behind it, as submissions have them.
    """

    topic: str
    query: str
    system: str
    text: str
    sources: tuple[dict[str, Any], ...] = ()


def system_of(written: str, column: str) -> str:
    """The name of a system as battles spell it, so that two spellings of one name are one system.

    Raises:
        InvalidSubmission: It cannot be a name; says why.
    """
    try:
        return system_name(written)
    except ValueError as error:
        raise InvalidSubmission([f"{column}: {error}"]) from error


def source_of(name: str, text: str | None = None) -> dict[str, Any]:
    """A document as submissions name sources: an id that is no URL becomes one."""
    source = {"url": name if URL.match(name) else f"{DOCUMENT}{name}", "title": name}
    return source if text is None else source | {"text": text}


@dataclass(frozen=True, slots=True)
class _Place:
    line: int
    start: int
    size: int


@dataclass(slots=True, weakref_slot=True)
class Answers:
    """The answers of a file or folder.

    Args:
        arena: Name of the arena of their battles.
    """

    arena: str
    _file: IO[bytes] = field(default_factory=TemporaryFile)
    _queries: dict[str, str] = field(default_factory=dict)
    _places: dict[str, dict[str, _Place]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        weakref.finalize(self, self._file.close)

    def add(self, line: int, answer: RunAnswer) -> None:
        """Keep an answer.

        Raises:
            InvalidSubmission: It cannot be paired: its system answers the query twice, or its query differs
                from that of another answer of the topic.
        """
        query = self._queries.setdefault(answer.topic, answer.query)
        if query != answer.query:
            raise InvalidSubmission([f"query: differs from that of another answer to topic {answer.topic!r}"])
        places = self._places.setdefault(answer.topic, {})
        if (other := places.get(answer.system)) is not None:
            problem = f"system {answer.system!r} answers topic {answer.topic!r} on line {other.line} already"
            raise InvalidSubmission([problem])
        start = self._file.seek(0, 2)
        kept = json.dumps({"text": answer.text, "sources": answer.sources}).encode()
        places[answer.system] = _Place(line, start, self._file.write(kept))

    def pairs(self) -> Iterator[Pair]:
        """Every two answers to a topic: the topic and both systems in alphabetical order."""
        for topic, places in self._places.items():
            for first, second in combinations(sorted(places), 2):
                yield topic, first, second

    def battles(self, source: Source, only: Container[Pair] | None = None) -> Iterator[BattleLine | BadLine]:
        """The battles, topic by topic; none where every answer was rejected, which says why.

        Args:
            source: What the answers are from.
            only: The pairs that become battles; None for all.

        Raises:
            UnusableFile: No query has two answers, so there is no battle.
        """
        if self._places and not any(len(places) > 1 for places in self._places.values()):
            systems = sorted({system for places in self._places.values() for system in places})
            who = f"of {systems[0]!r} alone" if len(systems) == 1 else "of no two systems to one query"
            raise UnusableFile(
                f"{source.path}: holds answers {who}; a battle needs two: name a folder of files"
            )
        for pair in self.pairs():
            if only is None or pair in only:
                yield self._battle(pair[0], pair[1:], self._places[pair[0]])

    def _battle(self, topic: str, pair: tuple[str, str], places: dict[str, _Place]) -> BattleLine | BadLine:
        first = sha256("\0".join((topic, *pair)).encode()).digest()[0] % 2
        line = places[pair[first]].line
        answers = {
            side: self._answer(pair[index], places) for side, index in (("a", first), ("b", 1 - first))
        }
        battle = {"arena": self.arena, "query": self._queries[topic], "tags": [f"topic:{topic}"], **answers}
        try:
            return BattleLine(line, *checked(battle))
        except InvalidSubmission as error:
            return BadLine(line, tuple(f"{' and '.join(pair)}: {problem}" for problem in error.problems))

    def _answer(self, system: str, places: dict[str, _Place]) -> dict[str, Any]:
        span = places[system]
        self._file.seek(span.start)
        kept: dict[str, Any] = json.loads(self._file.read(span.size))
        return {"system": system, **kept}
