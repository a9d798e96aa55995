"""Files of battles, line by line: gzip or plain JSONL, ours or a published format.

    nuggetstream   one submission per line, as `POST /v1/battles` takes it
    crowdrag25     CrowdRAG-25 battles: citations name documents of a second file, gold labels per dimension

A line that cannot be used becomes a `BadLine` and the rest goes on.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from nuggetstream.domain.battle import Vote
from nuggetstream.files.submission import (
    BattleSubmission,
    InvalidSubmission,
    parse_submission,
    parse_submission_json,
)

_GZIP = b"\x1f\x8b"
_GOLD = {"a": Vote.A, "b": Vote.B, "n": Vote.TIE}
OVERALL = "quality_overall"
VOTE = "vote"


class UnusableFile(ValueError):
    """The file as a whole cannot be read; says which file and why."""


@dataclass(frozen=True, slots=True)
class BattleLine:
    """One battle of a file.

    Attributes:
        line: its number, from 1.
        submission: checked.
        reference: human preference per dimension; "vote" for a plain vote.
    """

    line: int
    submission: BattleSubmission
    reference: Mapping[str, Vote]


Read: TypeAlias = tuple[BattleSubmission, Mapping[str, Vote]]


@dataclass(frozen=True, slots=True)
class BattleFormat:
    """A way to write a battle in one line.

    Attributes:
        name: What people call it.
        recognises: Whether a line is written so.
        read: The battle of such a line and the human preference per dimension. It is given the texts of
            documents by id, and raises `InvalidSubmission` naming the fields that are wrong.
    """

    name: str
    recognises: Callable[[bytes], bool]
    read: Callable[[bytes, Mapping[str, str]], Read]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no battle, and why."""

    line: int
    problems: tuple[str, ...]


def read_battles(path: Path, documents: Mapping[str, str] | None = None) -> Iterator[BattleLine | BadLine]:
    """The battles of a file in order; blank lines are passed over.

    Args:
        path: JSONL, gzipped or not.
        documents: id -> text, for formats whose answers cite documents by id.

    Raises:
        UnusableFile: it cannot be opened, or its compression is broken.
    """
    for number, line in _lines(path):
        try:
            kind = next(kind for kind in FORMATS if kind.recognises(line))
            submission, reference = kind.read(line, documents or {})
            yield BattleLine(number, submission, reference)
        except InvalidSubmission as error:
            yield BadLine(number, tuple(error.problems))


def read_documents(path: Path) -> dict[str, str]:
    """A file of documents: one object with `docid` and `text` per line.

    Raises:
        UnusableFile: naming file, line and field; a document left out unnoticed would change results.
    """
    documents = {}
    for number, line in _lines(path):
        try:
            row = json.loads(line)
            documents[str(row["docid"])] = str(row["text"])
        except (ValueError, TypeError) as error:
            raise UnusableFile(f"{path}:{number}: is not a JSON object: {error}") from error
        except KeyError as error:
            raise UnusableFile(f"{path}:{number}: {error.args[0]}: is missing") from error
    return documents


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as raw:
            zipped = raw.peek(2)[:2] == _GZIP
            with cast(BinaryIO, gzip.open(raw)) if zipped else raw as lines:
                for number, line in enumerate(lines, start=1):
                    if line.strip():
                        yield number, line
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnusableFile(f"{path}: {reason}") from error


def _nuggetstream(line: bytes, _: Mapping[str, str]) -> Read:
    submission = parse_submission_json(line)
    return submission, {} if submission.vote is None else {VOTE: submission.vote}


def _crowdrag25(line: bytes, documents: Mapping[str, str]) -> Read:
    row = _decoded(line)
    gold = {name: _gold(name, label) for name, label in row["gold"].items()}
    return parse_submission(_crowdrag(row, gold, documents)), gold


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidSubmission([f"is not valid JSON: {error}"]) from error
    if not isinstance(row, dict) or not isinstance(row.get("gold"), dict):
        raise InvalidSubmission(["gold: is not an object of labels"])
    return row


def _gold(name: str, label: object) -> Vote:
    if not isinstance(label, str) or label not in _GOLD:
        raise InvalidSubmission([f"gold.{name}: is {label!r}; expected one of a, n, b"])
    return _GOLD[label]


def _crowdrag(row: dict[str, Any], gold: Mapping[str, Vote], documents: Mapping[str, str]) -> dict[str, Any]:
    overall = gold.get(OVERALL)
    return {
        "id": row.get("battle_id"),
        "arena": "crowdrag25",
        "query": row.get("query"),
        "language": "en",
        "a": _cited(row.get("a"), "a", documents),
        "b": _cited(row.get("b"), "b", documents),
        "vote": overall.value if overall else None,
    }


def _cited(answer: Any, side: str, documents: Mapping[str, str]) -> Any:
    if not isinstance(answer, dict):
        return answer
    names = list(dict.fromkeys(answer.get("citations", [])))
    if lost := [name for name in names if name not in documents]:
        problem = f"{side}.citations: {len(lost)} of {len(names)} documents are missing, such as {lost[0]!r}"
        raise InvalidSubmission([f"{problem}; name their file with --documents"])
    sources = [{"url": f"docid:{name}", "title": name, "text": documents[name]} for name in names]
    return {"system": answer.get("system"), "text": answer.get("text"), "sources": sources}


FORMATS = [
    BattleFormat("CrowdRAG-25", lambda line: b'"gold"' in line, _crowdrag25),
    BattleFormat("Nuggetstream", lambda _: True, _nuggetstream),
]
"""Every way to write a battle, tried in turn; the last takes any line, so a new one comes before it."""
