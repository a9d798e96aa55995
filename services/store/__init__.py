"""The database: SQLAlchemy tables, the queries on them, and their migrations.

The database is SQLite (WAL mode) on one machine and PostgreSQL beyond. Every write is keyed by content or by
battle, so that repeating it changes nothing.
"""
