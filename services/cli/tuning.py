"""The operator's delays in the stages of a service."""

from dataclasses import replace

from services.cli.settings import PipelineSettings
from services.runtime.service import Service


def tuned(service: Service, pipeline: PipelineSettings, ack_wait: float | None = None) -> Service:
    """The service with the operator's retry delay in every stage.

    Args:
        service: The service.
        pipeline: Contains the delay before a retry.
        ack_wait: Replaces the ack_wait of the topology, where consumers were created with another one.
    """
    stages = []
    for stage in service.stages:
        backoff = replace(stage.consumer.backoff, base=pipeline.retry_seconds)
        consumer = replace(stage.consumer, backoff=backoff, ack_wait=ack_wait or stage.consumer.ack_wait)
        stages.append(replace(stage, consumer=consumer))
    return replace(service, stages=stages)
