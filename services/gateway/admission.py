"""Whether battles can be accepted now: nothing is taken that cannot be kept and passed on."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from nuggetstream.domain.failure import Reason
from services.runtime.bus import Bus
from services.runtime.disk import Check
from services.runtime.errors import Outage, Unavailable
from services.runtime.stream_usage import StreamUsage
from services.wire.topology import ADMISSION_LIMIT, ADMITTING, streams

_RETRY_AFTER = 5.0  # seconds; room on a disk or in a stream does not come back at once


@dataclass(frozen=True, slots=True)
class Admission:
    """Checks that must find nothing before a battle or a vote is accepted.

    Attributes:
        checks: Find a problem each, such as a full disk. They are called often and must be cheap.
    """

    checks: Sequence[Check] = ()

    async def problems(self) -> list[str]:
        """The problems that prevent battles from being accepted now."""
        results = [await check() for check in self.checks]
        return [problem for problem in results if problem is not None]

    async def require(self) -> None:
        """Return if battles can be accepted.

        Raises:
            Outage: They cannot; the error names every problem.
        """
        if problems := await self.problems():
            raise _outage("; ".join(problems))

    @asynccontextmanager
    async def explaining(self) -> AsyncIterator[None]:
        """Name the problem that the checks find behind an error of the broker or database.

        Raises:
            Unavailable: The error, explained.
        """
        try:
            yield
        except Unavailable as error:
            raise await self.explained(error) from error

    async def explained(self, error: Unavailable) -> Unavailable:
        """An error of the broker or database, with the problem that the checks find behind it."""
        problems = await self.problems()
        return _outage("; ".join((*problems, error.detail)), error.admin_detail) if problems else error


async def admission_to(bus: Bus, checks: Sequence[Check] = ()) -> tuple[StreamUsage, Admission]:
    """The admission to the platform behind a broker, and the measurement it needs, which the caller runs.

    Args:
        bus: Connection to the broker, whose streams must exist, and where battles wait must have room.
        checks: Further checks.
    """
    usage = StreamUsage(bus, [stream.name for stream in streams()])
    await usage.measure()

    async def streams_have_room() -> str | None:
        return usage.problem(ADMISSION_LIMIT, ADMITTING)

    return usage, Admission((*checks, streams_have_room))


def _outage(detail: str, admin_detail: str | None = None) -> Outage:
    return Outage(Reason.STORE_UNAVAILABLE, detail, _RETRY_AFTER, admin_detail=admin_detail)
