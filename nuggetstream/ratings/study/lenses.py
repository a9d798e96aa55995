"""Results of `nuggetstream eval` as votes: every lens is a source of its own."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record

LENSES = tuple(lens.value for lens in INDEPENDENT)


def lens_records(path: Path, records: Sequence[Record], seen: dict[str, str]) -> dict[str, list[Record]]:
    """What each lens says about every battle, as rows of a file of votes.

    A battle of a system with itself has no outcome in any lens, as on every board.

    Args:
        path: for errors.
        records: rows of a results.jsonl.
        seen: where each battle of the files before is; those of this one are added.

    Raises:
        UnusableFile: a row is no evaluated battle, or the same battle twice.
    """
    rows = [(record, _row(record)) for record in records]
    for record, row in rows:
        if (first := seen.setdefault(row.id, record.place)) != record.place:
            raise record.wrong("id", f"{row.id!r} is at {first} already")
    settled = [(record, row) for record, row in rows if row.a.system != row.b.system]
    if not settled:
        raise UnusableFile(f"{path}: holds no battle between two systems")
    return {lens: [_vote(record, row, lens) for record, row in settled] for lens in LENSES}


def _row(record: Record) -> BattleRow:
    try:
        return BattleRow.model_validate(record.fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise record.wrong(".".join(map(str, first["loc"])), first["msg"]) from error


def _vote(record: Record, row: BattleRow, lens: str) -> Record:
    vote = row.vote(Lens(lens))
    fields = {
        "battle_id": row.id,
        "arena": row.arena,
        "query": row.query,
        "language": row.known_language,
        "system_a": row.a.system,
        "system_b": row.b.system,
        "winner": None if vote is None else vote.value,
        "text_a": row.a.text,
        "text_b": row.b.text,
    }
    return Record(record.place, fields)
