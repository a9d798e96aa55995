"""The record: SQLAlchemy tables, the queries on them, and their migrations.

SQLite (WAL) on one machine, PostgreSQL beyond it. Every write is keyed by content or by battle, so
that doing it twice changes nothing.
"""
