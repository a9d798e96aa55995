"""The tables of studies that ask people; the gateway writes them.

studies         what is asked, as an administrator described it
study_items     the battles that people judge
study_workers   who takes part, by a random id
study_tasks     which worker was given which item, and what it answered
"""

from sqlalchemy import JSON, Boolean, Column, Index, Integer, SmallInteger, String, Table, Text

from services.store.tables import metadata
from services.store.utc_datetime import UtcDateTime

_STUDY, _UTC = String(64), UtcDateTime()

studies = Table(
    "studies",
    metadata,
    Column("id", _STUDY, primary_key=True),
    Column("arena", String(200), nullable=False),
    Column("definition", JSON, nullable=False),  # without the ids of its battles
    Column("created_at", _UTC, nullable=False),
    Column("closed_at", _UTC),
)

study_items = Table(
    "study_items",
    metadata,
    Column("study_id", _STUDY, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("battle_id", String(200), nullable=False, index=True),
    Column("kind", String(16), nullable=False),
    Column("system_a", String(200), nullable=False),
    Column("system_b", String(200), nullable=False),
    Column("stratum", SmallInteger, nullable=False),
)

study_workers = Table(
    "study_workers",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("study_id", _STUDY, nullable=False),
    Column("participant", String(100)),  # id that a crowd platform gave the worker
    Column("cookie", String(64), nullable=False, unique=True),  # hash of the secret in the worker's browser
    Column("language", String(35), nullable=False),
    Column("code", String(60), nullable=False),
    Column("begun_at", _UTC, nullable=False),
    Column("finished_at", _UTC),
    Index(None, "study_id", "participant", unique=True),
)

study_tasks = Table(
    "study_tasks",
    metadata,
    Column("worker_id", String(64), primary_key=True),
    Column("item", Integer, primary_key=True, autoincrement=False),
    Column("study_id", _STUDY, nullable=False),
    Column("position", Integer, nullable=False),
    Column("reversed", Boolean, nullable=False),  # whether B was shown first
    Column("given_at", _UTC, nullable=False),
    Column("expires_at", _UTC, nullable=False),
    Column("answered_at", _UTC),
    Column("labels", JSON(none_as_null=True)),  # a is answer A, whatever was shown first
    Column("deciding", String(1)),
    Column("justification", Text),
    # All that is counted for every item that is given, so that no row is read for it.
    Index("ix_study_tasks_counted", "study_id", "item", "answered_at", "expires_at", "deciding"),
)
