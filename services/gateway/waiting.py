"""The HTTP application of a gateway that cannot start yet: its health, and status 503 for all else."""

from fastapi import FastAPI

from nuggetstream.domain.failure import Reason
from services.gateway import health, problems
from services.gateway.hosts import AllowedHosts, HostCheck
from services.runtime.errors import Outage
from services.wire.model_state import ModelStates

_RETRY_AFTER = 5.0  # seconds
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def waiting_app(readiness: health.Readiness, hosts: AllowedHosts | None = None) -> FastAPI:
    """The application.

    Args:
        readiness: Gives the reasons why the gateway cannot start yet.
        hosts: The names that it answers to; only those of loopback when None.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    problems.install(app)
    app.include_router(health.routes(readiness, ModelStates(), traffic=readiness))

    @app.api_route("/{path:path}", methods=_METHODS)
    async def not_yet(path: str) -> None:  # noqa: ARG001 - of the route
        why = "; ".join(await readiness())
        raise Outage(Reason.STORE_UNAVAILABLE, f"the gateway is starting: {why}", retry_after=_RETRY_AFTER)

    app.add_middleware(HostCheck, hosts=hosts or AllowedHosts())
    return app
