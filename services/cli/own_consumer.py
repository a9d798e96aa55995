"""The consumer of a judge or nuggetizer. It must be its own: two on one would share the battles."""

import nats.errors
from nats.js.errors import NotFoundError

from services.cli.prepared import NotPrepared, NotPreparedYet
from services.runtime.bus import Bus, ConsumerSpec, describe_error
from services.wire.declared import Declared
from services.wire.subjects import STREAM_ARENA
from services.wire.topology import consumer_of


async def own_consumer(bus: Bus, declared: Declared, name: str) -> ConsumerSpec:
    """The consumer that a judge or nuggetizer reads.

    Args:
        bus: Connection to the broker.
        declared: The declared judges, or nuggetizers.
        name: Name of the one.

    Raises:
        NotPrepared: It is not declared, or its consumer belongs to another one.
        NotPreparedYet: Its consumer is missing, or the broker does not answer.
    """
    stage, variable = declared.stage.value, declared.variable
    if declared.names and name not in declared.names:
        raise NotPrepared(
            f"{variable} declares {', '.join(declared.names)} and not {name}, the name of this {stage}: add "
            f"it there and run `nuggetstream bootstrap`, or set {declared.own_variable} to a declared name"
        )
    spec = consumer_of(declared, name)
    try:
        info = await bus.js.consumer_info(STREAM_ARENA, spec.durable)
    except NotFoundError:
        raise NotPreparedYet(f"consumer {spec.durable} is missing: run `nuggetstream bootstrap`") from None
    except nats.errors.Error as error:
        raise NotPreparedYet(describe_error(error)) from error
    owner = (info.config.metadata or {}).get(stage)
    if owner is not None and owner != name:
        raise NotPrepared(
            f"consumer {spec.durable} belongs to the {stage} {owner} and not to {name}: "
            f"set the same {variable} for all processes, and run `nuggetstream bootstrap`"
        )
    return spec
