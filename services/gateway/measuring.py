"""Measures every HTTP request by method, route and status."""

from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.runtime.metrics import HTTP_SECONDS

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class MeasuredRequests:
    """Observes the time until a response begins, because event streams last as long as the client stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request and observe it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, answered = perf_counter(), False

        async def send_measured(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start" and not answered:
                answered = True
                _observe(scope, message["status"], perf_counter() - started)
            await send(message)

        try:
            await self._app(scope, receive, send_measured)
        finally:
            if not answered:
                _observe(scope, 500, perf_counter() - started)


def _observe(scope: Scope, status: int, seconds: float) -> None:
    # Route and method are those of a table: paths and methods that a client invents would grow without limit.
    route = getattr(scope.get("route"), "path", None) or "unmatched"
    method = scope["method"] if scope["method"] in _METHODS else "other"
    HTTP_SECONDS.labels(method, route, str(status)).observe(seconds)
