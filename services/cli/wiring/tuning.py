"""The delays in the stages of embedded mode, and those of a run whose model calls wait for batches."""

from dataclasses import replace

from nuggetstream.domain.pipeline import MODEL_STAGES
from services.runtime.bus import ConsumerSpec
from services.runtime.service import Service
from services.wire.evaluators import GRADER_PREFIX

BATCHED_BATTLES = 1000  # at once in a stage; as many as a consumer may have unacknowledged
_BATCHED_S = 30 * 24 * 3600.0  # deadline of an attempt
_BATCHED_DELIVERIES = 100


def for_batches(spec: ConsumerSpec) -> ConsumerSpec:
    """The consumer of a run with batches, which is stopped and continued: each time is a delivery.

    Consumers of stages without model calls are as they were.
    """
    calls_model = spec.durable in MODEL_STAGES or spec.durable.startswith(GRADER_PREFIX)
    return replace(spec, max_deliver=_BATCHED_DELIVERIES) if calls_model else spec


def tuned(service: Service, ack_wait: float, *, batched: bool) -> Service:
    """The service with the delays of embedded mode in every stage.

    Args:
        service: The service.
        ack_wait: Replaces the ack_wait of the topology.
        batched: Whether model calls wait for batches, so that an attempt may take days.
    """
    stages = []
    for stage in service.stages:
        consumer = replace(stage.consumer, ack_wait=ack_wait)
        deadline = stage.deadline
        if batched and for_batches(consumer) != consumer:
            consumer, deadline = for_batches(consumer), _BATCHED_S
        stages.append(replace(stage, consumer=consumer, deadline=deadline))
    return replace(service, stages=stages)
