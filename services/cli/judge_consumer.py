"""The consumer of a judge process. It must be the judge's own: two judges on one would share the battles."""

import nats.errors
from nats.js.errors import NotFoundError

from services.cli.prepared import NotPrepared, NotPreparedYet
from services.runtime.bus import Bus, ConsumerSpec, describe_error
from services.wire.judges import Judges
from services.wire.subjects import STREAM_ARENA
from services.wire.topology import JUDGE, judge_consumer


async def own_consumer(bus: Bus, judges: Judges, name: str) -> ConsumerSpec:
    """The consumer that a judge reads.

    Args:
        bus: Connection to the broker.
        judges: The declared judges.
        name: Name of the judge.

    Raises:
        NotPrepared: The judge is not declared, or its consumer belongs to another judge.
        NotPreparedYet: Its consumer is missing, or the broker does not answer.
    """
    if judges.names and name not in judges.names:
        raise NotPrepared(
            f"NUGGETSTREAM_JUDGES declares {', '.join(judges.names)} and not {name}, the name of this judge: "
            "add it there and run `nuggetstream bootstrap`, or set NUGGETSTREAM_JUDGE_NAME to a declared name"
        )
    spec = judge_consumer(judges, name)
    try:
        info = await bus.js.consumer_info(STREAM_ARENA, spec.durable)
    except NotFoundError:
        raise NotPreparedYet(f"consumer {spec.durable} is missing: run `nuggetstream bootstrap`") from None
    except nats.errors.Error as error:
        raise NotPreparedYet(describe_error(error)) from error
    owner = (info.config.metadata or {}).get(JUDGE)
    if owner is not None and owner != name:
        raise NotPrepared(
            f"consumer {spec.durable} belongs to the judge {owner} and not to {name}: "
            "set the same NUGGETSTREAM_JUDGES for all processes, and run `nuggetstream bootstrap`"
        )
    return spec
