"""Where a call goes: to the first endpoint whose circuit admits it.

    first endpoint   ── its circuit is closed, or a probe is due ──> asked
    fallback         ── the circuit of the first is open ──> asked, with a model and a key of its own

What a model says about the content is an answer, whichever endpoint it comes from; no other endpoint is asked
for a better one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.runtime.llm.cause import FirstAway
from services.runtime.llm.circuit import Circuit
from services.runtime.llm.endpoint import Endpoint
from services.runtime.llm.limiter import AdaptiveLimit


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """One endpoint.

    Attributes:
        endpoint: The endpoint.
        circuit: Whether it answers.
        limit: Calls that it may get at once.
    """

    endpoint: Endpoint
    circuit: Circuit
    limit: AdaptiveLimit


@dataclass(frozen=True, slots=True)
class Routes:
    """The endpoints of a model, the preferred one first.

    Attributes:
        routes: The endpoints.
    """

    routes: Sequence[Route]

    @property
    def first(self) -> Route:
        """The preferred endpoint."""
        return self.routes[0]

    def first_away(self) -> FirstAway | None:
        """Why the first endpoint is away, and whether its fallback answers; None while the first answers."""
        away = self.first.circuit.away()
        if away is None:
            return None
        fallbacks = [not route.circuit.is_open for route in self.routes[1:]]
        return replace(away, fallback_answers=any(fallbacks) if fallbacks else None)

    def choose(self) -> Route:
        """The endpoint for the next call; the first where none admits one."""
        return next((route for route in self.routes if route.circuit.admits), self.first)

    def instead_of(self, failed: Route) -> Route | None:
        """Another endpoint for a call that an open circuit prevents; None where there is none."""
        chosen = self.choose()
        return chosen if chosen is not failed and failed.circuit.is_open and chosen.circuit.admits else None

    async def close(self) -> None:
        """Close all connections."""
        for route in self.routes:
            await route.endpoint.close()
