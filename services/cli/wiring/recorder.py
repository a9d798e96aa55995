"""The wiring of the recorder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from services.cli.wiring.declared import keep_declared
from services.cli.wiring.parts import Parts
from services.cli.wiring.shared_parts import consumer_watch
from services.recorder.parking import Parking
from services.recorder.reconciler import reconciler
from services.recorder.stage import Recorder, build
from services.runtime.runner import AdvisoryMover
from services.runtime.service import Service
from services.runtime.stage import Stage
from services.store.battles.battles import Battles
from services.store.battles.eraser import eraser_of
from services.store.spend.call_log import CallRetention
from services.store.spend.costs import Costs
from services.store.usage import DatabaseWatch
from services.store.work.claims import DatabaseClaims
from services.store.work.parked import ParkedEvents
from services.wire.codec import unseal
from services.wire.stages import failure_of
from services.wire.topology import MOVER_DEAD, consumers


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The recorder: stores events, with the mover of exhausted messages and the reconciler of battles."""
    battles = Battles(parts.database)
    evaluators = parts.platform.evaluators
    recorder = Recorder(battles, parts.bus.core_publish, evaluators, Costs(parts.database))
    max_bytes = parts.platform.database_max_bytes
    size = DatabaseWatch(parts.database.engine.url, parts.database.transaction, max_bytes)
    declared = consumers(evaluators)
    mover = AdvisoryMover(parts.bus, declared, lambda letter: failure_of(letter, parts.blobs))
    reconciling = reconciler(parts.bus, parts.database, parts.blobs, evaluators=evaluators)
    eraser = eraser_of(parts.bus, parts.database)
    calls = CallRetention(parts.database, timedelta(days=parts.platform.call_log_days))
    parking = Parking(
        ParkedEvents(parts.database), recorder, lambda schema, body: unseal(schema, body, parts.blobs)
    )
    watches = [consumer_watch(parts.bus).run, size.run, reconciling.run, eraser.run, calls.run, parking.run]
    if not parts.has_broker:
        watches.append(partial(keep_declared, parts.bus, parts.platform))
    if not parts.database.is_sqlite:
        watches.append(DatabaseClaims(parts.database).sweep_regularly)
    stages: list[Stage[Any, Any]] = [build(recorder, parts.blobs), mover.stage(MOVER_DEAD)]
    yield Service(name="recorder", stages=stages, background=watches)
