"""The tables of the database; others are in `chunk_tables.py`, `work.py` and beside what uses them.

battles      one row per battle: the battle as received, and its state
events       the events of each battle, in order, as encoded messages without what is stored elsewhere
event_positions the position of the newest event of all battles
failures     failures of stages
votes        the newest human vote per battle and voter
outcomes     the winner per battle and source; ratings are computed from their counts
sources      the usable pages of each battle, and the sides that cite them
blobs        content-addressed bytes: page texts and large message bodies
replies      the cache of model replies; claims: prompts that a process asks now, on PostgreSQL
spend        all booked model calls: tokens and cost, for accounting and budgets
content_users   the battles that share a blob or a reply with the battle that brought it
deletions       battles that were deleted
Counters of the rows above, changed in the transaction of the row that they count (see `counters.py`):
battle_counters   battles received, per arena and facet
lens_counters     outcomes and decided battles, per arena, lens and facet, with a stamp of the last change
pair_counters     outcomes per pair of systems
joint_counters    outcomes of two lenses or two judges for the same battles, per pair of systems
spend_counters    booked model calls per day, arena, API key, stage, model and currency
"""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    Float,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    false,
)

from services.store.compressed import CompressedBytes
from services.store.schema import index_where, not_logged
from services.store.schema import metadata as metadata  # noqa: PLC0414 - exported
from services.store.utc_datetime import UtcDateTime

_UTC, _HASH = UtcDateTime(), String(64)
_NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up INTEGER keys only

battles = Table(
    "battles",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("arena", String(200), nullable=False),
    Column("query", Text, nullable=False),
    Column("language", String(35)),
    Column("language_confidence", Float),  # NULL where the arena declared the language
    Column("tags", JSON, nullable=False),
    Column("system_a", String(200), nullable=False),
    Column("system_b", String(200), nullable=False),
    Column("content_hash", _HASH, nullable=False),
    Column("carried_hash", _HASH, nullable=False),  # of the battle as events carry it, see `Battle`
    Column("body", LargeBinary, nullable=False),
    Column("received_at", _UTC, nullable=False),
    Column("nugget_state", String(16), nullable=False, server_default="pending"),
    Column("judge_state", String(16), nullable=False, server_default="pending"),
    Column("ended_at", _UTC),
    Column("event_count", Integer, nullable=False, server_default="0"),
    Column("flagged", Boolean, nullable=False, server_default=false()),
    Column("key_name", String(200)),  # of the API key that it was sent with
    Index(None, "arena", "received_at"),
    Index(None, "received_at"),
)

events = Table(
    "events",
    metadata,
    Column("message_id", String(300), primary_key=True),
    Column("battle_id", String(200), nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("name", String(40), nullable=False),
    Column("schema", String(80), nullable=False),
    Column("body", LargeBinary, nullable=False),  # see `event_bodies.py`
    Column("recorded_at", _UTC, nullable=False),
    Column("position", BigInteger, nullable=False, unique=True),  # see `event_tail.py`
    Index(None, "battle_id", "sequence", unique=True),
    Index(None, "recorded_at"),
)

event_positions = Table(
    "event_positions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),  # of the only row
    Column("last", BigInteger, nullable=False),
)

failures = Table(
    "failures",
    metadata,
    Column("key", _HASH, primary_key=True),
    Column("battle_id", String(200), nullable=False, index=True),
    Column("arena", String(200), nullable=False),
    Column("stage", String(40), nullable=False),
    Column("reason", String(40), nullable=False),
    Column("detail", Text, nullable=False),
    Column("admin_detail", Text),
    Column("attempts", Integer, nullable=False),
    Column("evaluator", String(80)),
    Column("failed_at", _UTC, nullable=False),
    Column("discarded_at", _UTC),
    Index(None, "arena", "failed_at"),
    Index(None, "failed_at"),
)

outcomes = Table(
    "outcomes",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("source", String(80), primary_key=True),
    Column("lens", String(16), nullable=False),
    Column("arena", String(200), nullable=False),
    Column("system_a", String(200), nullable=False),
    Column("system_b", String(200), nullable=False),
    Column("winner", String(16), nullable=False),
    Column("margin", Float),
    Column("probability_a", Integer),  # in millionths; NULL where the source does not tell
    Column("probability_b", Integer),
    Column("decided_at", _UTC, nullable=False),
    # Where an outcome comes from; see `Outcome`.
    Column("list_version", Integer),
    Column("judge_model", String(200)),
    Column("favoured", SmallInteger),
    Column("longer", SmallInteger),
    Index(None, "arena", "lens"),
)

votes = Table(
    "votes",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("voter", String(200), primary_key=True),  # "" where it is not known
    Column("vote", String(16), nullable=False),
    Column("voted_at", _UTC, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("url_hash", _HASH, primary_key=True),
    Column("url", Text, nullable=False),
    Column("title", Text),
    Column("content_hash", _HASH, nullable=False, index=True),
    Column("fetched_at", _UTC),
    Column("cited_by_a", Boolean, nullable=False),
    Column("cited_by_b", Boolean, nullable=False),
    Column("arena", String(200), nullable=False),
)

blobs = Table(
    "blobs",
    metadata,
    Column("key", _HASH, primary_key=True),
    Column("body", CompressedBytes, nullable=False),
    Column("battle_id", String(200), index=True),  # the battle that brought it; NULL where none did
)

replies = Table(
    "replies",
    metadata,
    Column("key", _HASH, primary_key=True),
    Column("body", Text, nullable=False),
    Column("created_at", _UTC, nullable=False),
    Column("battle_id", String(200), nullable=False, index=True),  # as in blobs
)

content_users = Table(
    "content_users",
    metadata,
    Column("key", _HASH, primary_key=True),
    Column("battle_id", String(200), primary_key=True, index=True),
)

deletions = Table(
    "deletions",
    metadata,
    Column("battle", _HASH, primary_key=True),  # hash of the battle's id
    Column("battle_id", String(200)),  # NULL once nothing of the battle can appear any more
    Column("deleted_at", _UTC, nullable=False),
    index_where("battle_id IS NOT NULL", "ix_deletions_unfinished", "deleted_at"),
    index_where("battle_id IS NULL", "ix_deletions_finished", "deleted_at"),
)

claims = Table(
    "claims",
    metadata,
    Column("key", _HASH, primary_key=True),
    Column("owner", String(32), nullable=False),
    Column("ends_at", _UTC, nullable=False),
)
not_logged(claims)

spend = Table(
    "spend",
    metadata,
    Column("id", _NUMBER, primary_key=True, autoincrement=True),
    Column("battle_id", String(200), index=True),  # NULL once the battle was deleted
    Column("stage", String(40), nullable=False),
    Column("model", String(200), nullable=False),
    Column("day", Date, nullable=False, index=True),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_input_tokens", BigInteger, nullable=False),
    # Cost in units of 10^-12 of the currency, so that sums are exact on every database; NULL: no price.
    Column("picos", BigInteger),
    Column("currency", String(3)),
    Column("source", String(16), nullable=False),
    Column("booked_at", _UTC, nullable=False),
)

# A facet is a group of battles: all of an arena (kind "all", no value), or those of a language, tag or month.
_FACET = (("arena", 200), ("kind", 16), ("value", 200))


def _keys(*names: tuple[str, int]) -> list[Column[Any]]:
    return [Column(name, String(length), primary_key=True) for name, length in names]


def _numbers(*names: str, added: tuple[str, ...] = ()) -> list[Column[Any]]:
    columns = [Column(name, BigInteger, nullable=False) for name in names]
    return columns + [Column(name, BigInteger, nullable=False, server_default="0") for name in added]


OUTCOME_COLUMNS = ("a", "b", "tie", "both_bad")  # the values of a vote
SHIFT_COLUMNS = ("shift_a", "shift_b")  # expected minus discrete wins, in millionths; see `probabilities.py`
# Outcomes of the first and of the second lens, or source of verdicts; "none" where a lens has none.
JOINT_COLUMNS = {
    (first, second): f"{first or 'none'}_{second or 'none'}"
    for first in (None, *OUTCOME_COLUMNS)
    for second in (None, *OUTCOME_COLUMNS)
    if first or second
}

battle_counters = Table("battle_counters", metadata, *_keys(*_FACET), *_numbers("battles"))

lens_counters = Table(
    "lens_counters",
    metadata,
    *_keys(_FACET[0], ("lens", 16), *_FACET[1:]),
    *_numbers("outcomes", "decided", added=("probable",)),  # probable: outcomes with known probabilities
    # A new random number with every change. It cannot repeat, not even when a backup is restored.
    Column("stamp", BigInteger, nullable=False),
)

pair_counters = Table(
    "pair_counters",
    metadata,
    *_keys(_FACET[0], ("lens", 16), *_FACET[1:], ("system_a", 200), ("system_b", 200)),
    *_numbers(*OUTCOME_COLUMNS, added=SHIFT_COLUMNS),
)

joint_counters = Table(
    "joint_counters",
    metadata,
    *_keys(("arena", 200), ("first", 80), ("second", 80), ("system_a", 200), ("system_b", 200)),
    *_numbers(*JOINT_COLUMNS.values()),
)

SPEND_COLUMNS = ("calls", "input_tokens", "output_tokens", "cached_input_tokens", "picos", "estimated")

spend_counters = Table(
    "spend_counters",
    metadata,
    Column("day", Date, primary_key=True),
    # One of several rows, chosen at random, so that calls booked at the same time do not wait.
    Column("slot", Integer, primary_key=True, autoincrement=False),
    # Arena and API key are empty where none is known, and the currency for calls without a price. Stage and
    # model are empty in the rows that count a whole day.
    *_keys(("arena", 200), ("key_name", 200), ("stage", 40), ("model", 200), ("currency", 3)),
    *_numbers(*SPEND_COLUMNS),
    # The budget of an API key or an evaluator reads its own rows of a day; those of an arena have the key.
    Index(None, "day", "key_name"),
    Index(None, "day", "stage"),
)
