"""The tables of access: who may use the platform, and who did what.

api_keys        keys and users of a trusted proxy, with their roles and arenas; of a key only a hash
page_sessions   logins of the pages, by the hash of their cookie
key_usage       battles that a key submitted on a day (UTC)
audit_log       actions by key; the newest are kept
access_secrets  secrets that the services share, such as the one by which they sign calls to each other
"""

from sqlalchemy import JSON, BigInteger, Column, Integer, String, Table

from services.store.schema import metadata
from services.store.utc_datetime import UtcDateTime

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("hash", String(64)),  # None for a user of a proxy, who has no secret
    Column("proxy_user", String(320), unique=True),  # None for a key
    Column("roles", JSON, nullable=False),
    Column("arenas", JSON(none_as_null=True)),  # None: all arenas
    Column("per_minute", Integer),
    Column("battles_per_day", Integer),
    Column("created_at", UtcDateTime(), nullable=False),
    Column("expires_at", UtcDateTime()),
    Column("revoked_at", UtcDateTime()),
    Column("replaces", String(40)),  # the key that this one was rotated from
)

page_sessions = Table(
    "page_sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("key_id", String(40), nullable=False),
    Column("expires_at", UtcDateTime(), nullable=False, index=True),
)

key_usage = Table(
    "key_usage",
    metadata,
    Column("key_id", String(40), primary_key=True),
    Column("day", String(10), primary_key=True),  # such as 2026-05-04
    Column("battles", BigInteger, nullable=False),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("at", UtcDateTime(), nullable=False),
    Column("key_id", String(40), nullable=False),
    Column("action", String(60), nullable=False),
    Column("arena", String(200), index=True),  # None where the action is about no single arena
    Column("subject", String(40)),  # the key that an action is about
)

access_secrets = Table(
    "access_secrets",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("secret", String(64), nullable=False),
)
