"""Alembic's entry point: run the migrations on the connection the caller opened."""

from alembic import context

import services.store.access_tables
import services.store.bank_tables
import services.store.call_tables
import services.store.canary_runs
import services.store.chunk_tables
import services.store.cost_tables
import services.store.edit_tables
import services.store.fetch_tables
import services.store.judge_biases
import services.store.label_tables
import services.store.lost_inputs
import services.store.nuggetizer_tables
import services.store.pending_outcomes
import services.store.pending_votes
import services.store.question_tables
import services.store.webhook_tables  # noqa: F401 - all these tables are part of the metadata
from services.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite alters tables by copying them
)
with context.begin_transaction():
    context.run_migrations()
