"""The tables of webhooks.

webhooks           where events of an arena are sent, with the cursor and the lease of whoever sends them
webhook_deliveries events that a receiver has not accepted: they wait for another attempt, or were given up
"""

from sqlalchemy import JSON, BigInteger, Boolean, Column, Index, Integer, String, Table, Text, true

from services.store.tables import metadata
from services.store.utc_datetime import UtcDateTime

_UTC = UtcDateTime()

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("arena", String(200), nullable=False, index=True),
    Column("url", Text, nullable=False),
    Column("secret", String(100), nullable=False),  # signatures need it, so it is no hash
    Column("previous_secret", String(100)),  # signs as well until this time, after a rotation
    Column("previous_secret_until", _UTC),
    Column("kinds", JSON, nullable=False),  # empty: all
    Column("tags", JSON, nullable=False),  # empty: all battles
    Column("languages", JSON, nullable=False),  # empty: all battles
    Column("created_at", _UTC, nullable=False),
    Column("enabled", Boolean, nullable=False, server_default=true()),
    Column("cursor", BigInteger, nullable=False),  # events up to this position were accepted or are set aside
    Column("failures", Integer, nullable=False, server_default="0"),  # attempts in a row
    Column("failing_since", _UTC),
    Column("paused_until", _UTC),
    Column("last_error", Text),
    Column("accepted_at", _UTC),  # of the latest event that was accepted
    Column("lease_owner", String(40)),
    Column("lease_until", _UTC),
)

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("webhook_id", String(40), primary_key=True),
    Column("battle_id", String(200), primary_key=True, index=True),
    Column("sequence", Integer, primary_key=True),
    Column("kind", String(40), primary_key=True),  # an event that ends its battle is followed by `ended`
    Column("position", BigInteger, nullable=False),
    Column("recorded_at", _UTC, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", _UTC),  # None: given up
    Column("reason", Text, nullable=False),
    Index(None, "webhook_id", "next_at"),
)
