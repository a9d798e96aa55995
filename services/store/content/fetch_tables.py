"""The tables that scrapers share. Addresses are stored as hashes.

fetched_pages  the last outcome of each page; it belongs to the battle for which the page was fetched
robots_files   robots.txt of each origin, as long as it is valid
host_pauses    when the next request to each host may start
"""

from sqlalchemy import JSON, Column, Float, String, Table, Text

from services.store.schema import metadata, not_logged
from services.store.utc_datetime import UtcDateTime

_HASH = String(64)

fetched_pages = Table(
    "fetched_pages",
    metadata,
    Column("key", _HASH, primary_key=True),  # of the canonical URL
    Column("battle_id", String(200), nullable=False, index=True),
    Column("content_hash", _HASH),  # of the text in `blobs`; NULL where the page is not usable
    Column("outcome", JSON, nullable=False),
    Column("fetched_at", UtcDateTime(), nullable=False),
)

robots_files = Table(
    "robots_files",
    metadata,
    Column("key", _HASH, primary_key=True),  # of the origin
    Column("body", Text),  # NULL where the origin has no robots.txt
    Column("fetched_at", UtcDateTime(), nullable=False, index=True),
)

host_pauses = Table(
    "host_pauses",
    metadata,
    Column("key", _HASH, primary_key=True),  # of the host
    Column("next_start", Float, nullable=False),  # seconds since 1970, by the clock of the database
)
not_logged(host_pauses)
