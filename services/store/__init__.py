"""The database: SQLAlchemy tables, the queries on them, and their migrations.

The database is SQLite (WAL mode) on one machine and PostgreSQL beyond. Every write is keyed by content or by
battle, so that repeating it changes nothing.
"""

# Of a process. With 13 pods, and 9 more while all services are replaced at once, they are fewer than the 100
# that PostgreSQL accepts by default.
DEFAULT_CONNECTIONS = 4
