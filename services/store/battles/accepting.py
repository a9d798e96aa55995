"""Storing new battles, several in one transaction: a commit costs a disk as much for many rows as for one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zlib import crc32

from sqlalchemy import Connection, bindparam, insert, select

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.event import BattleVoted, submission_key, vote_of
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.domain.pipeline import Stage
from nuggetstream.text.languages import DetectedLanguage
from services.store.battles.recording import NewEvent, record_all
from services.store.compressed import compress, pack
from services.store.content.shared import insert_content
from services.store.content.text_references import separate_sources
from services.store.locks import lock
from services.store.outcomes.battle_counts import count_battles
from services.store.outcomes.stated_outcomes import outcomes_of
from services.store.tables import battles, blobs
from services.store.work.pending import Worker, begin


@dataclass(frozen=True, slots=True)
class NewBattle:
    """A battle to be stored.

    Attributes:
        battle: The battle.
        body: The encoded event that submits it.
        detected: Language of the query, where the battle declares none and one was detected.
        flagged: Whether an answer is flagged.
        vote: The vote that came with the battle, if any, with its voter.
        key_name: Name of the API key that it was sent with; None where there is none.
        content_hash: Hash of everything but the id of the battle.
    """

    battle: Battle
    body: bytes
    detected: DetectedLanguage | None = None
    flagged: bool = False
    vote: HumanVote | None = None
    key_name: str | None = None
    content_hash: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "content_hash", self.battle.content_hash())

    @property
    def confidence(self) -> float | None:
        """How sure the detector is of the language; None where the battle declares it, or it is unknown."""
        return None if self.battle.language is not None or self.detected is None else self.detected.confidence

    @property
    def language(self) -> str | None:
        """The language that boards count the battle for: the declared one, else the detected one."""
        if self.battle.language is not None or self.detected is None:
            return self.battle.language
        return self.detected.tag


_KNOWN = select(battles.c.id, battles.c.content_hash).where(
    battles.c.id.in_(bindparam("ids", expanding=True))
)


def known_hashes(connection: Connection, new: Sequence[NewBattle]) -> list[str | None]:
    """Whether battles were received before; until the end of the transaction no other one stores them.

    Args:
        connection: Connection in a transaction; in SQLite one that may write.
        new: The battles, of which several may have the same id.

    Returns:
        For each battle None when it is new, else the content hash of the first battle with its id. When that
        equals the hash of the battle, the battle was received before; otherwise the ids conflict.
    """
    ids = [battle.battle.id for battle in new]
    lock(connection, [f"battle {battle_id}" for battle_id in ids])
    hashes = {row.id: row.content_hash for row in connection.execute(_KNOWN, {"ids": ids})}
    stored: list[str | None] = []
    for battle in new:
        stored.append(hashes.get(battle.battle.id))
        hashes.setdefault(battle.battle.id, battle.content_hash)
    return stored


def store_new(
    connection: Connection,
    new: Sequence[NewBattle],
    received_at: datetime,
    further_votes: Sequence[BattleVoted] = (),
) -> None:
    """Store battles whose ids are not known, and record and count the votes that came with them.

    A vote has the time when its battle was received, so that it is never newer than a vote cast since.

    Args:
        connection: Connection in the transaction that has looked for their ids.
        new: The battles.
        received_at: Time of receipt.
        further_votes: Votes on these battles and on ones that were stored before and are locked.
    """
    _store_battles(connection, new, received_at)
    votes = [vote_of(accepted.battle, accepted.vote, received_at) for accepted in new]
    cast = [vote for vote in (*votes, *further_votes) if vote is not None]
    if cast:
        record_all(
            connection, [NewEvent.of(vote, outcomes_of(vote, received_at)) for vote in cast], received_at
        )
    # Last, as in a deletion, so that the two cannot deadlock.
    count_battles(connection, [(each.battle, each.language) for each in new], received_at)


def _store_battles(connection: Connection, new: Sequence[NewBattle], received_at: datetime) -> None:
    if not new:
        return
    rows, texts = [], []
    for accepted in new:
        body, own = _separated(accepted)
        rows.append(_row(accepted, received_at) | {"body": body})
        texts += own
    connection.execute(insert(battles), rows)
    begin(connection, dict(map(_first_work, new)), received_at)
    if texts:
        insert_content(connection, blobs, texts)


def _first_work(new: NewBattle) -> tuple[Worker, str]:
    """The work with which the evaluation of a battle begins, and the key of its submission."""
    return Worker(new.battle.id, Stage.SCRAPER), submission_key(new.battle.id, new.content_hash)


def _separated(new: NewBattle) -> tuple[bytes, list[dict[str, Any]]]:
    """The stored body of a battle, and the rows of the texts that it refers to.

    The scraper needs the texts of sources as page texts, so they are stored as such from the start.
    """
    separated = separate_sources(new.body)
    if separated is None:
        return compress(new.body), []
    rows = [{"key": k, "body": text, "battle_id": new.battle.id} for k, text in separated.texts.items()]
    return pack(separated.body, checksum=crc32(new.body)).stored(), rows


def _row(new: NewBattle, received_at: datetime) -> dict[str, Any]:
    battle = new.battle
    return {
        "id": battle.id,
        "arena": battle.arena,
        "query": battle.query,
        "language": new.language,
        "language_confidence": new.confidence,
        "tags": list(battle.tags),
        "system_a": battle.a.system,
        "system_b": battle.b.system,
        "content_hash": new.content_hash,
        "carried_hash": battle.carried_hash(),
        "received_at": received_at,
        "flagged": new.flagged,
        "key_name": new.key_name,
    }
