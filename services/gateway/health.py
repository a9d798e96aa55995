"""/healthz and /readyz."""

from fastapi import APIRouter, Response

from nuggetstream.views.common import Health
from services.gateway.ports import Readiness


def routes(readiness: Readiness) -> APIRouter:
    """Liveness says that the process answers at all; readiness, that it can do its work."""
    router = APIRouter(tags=["operations"])

    @router.get("/healthz", summary="Is the process alive?")
    async def healthz() -> Health:
        return Health(status="ok")

    @router.get("/readyz", summary="Can it do its work?", responses={503: {"model": Health}})
    async def readyz(response: Response) -> Health:
        if reasons := await readiness():
            response.status_code = 503
            return Health(status="unavailable", reasons=list(reasons))
        return Health(status="ok")

    return router
