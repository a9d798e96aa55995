"""The HTTP side of the front door: REST, server-sent events, web pages."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.datastructures import MutableHeaders
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway import health, problems
from services.gateway.battles import event_routes, submission_routes
from services.gateway.battles import routes as battle_routes
from services.gateway.pages import routes as page_routes
from services.gateway.pages.environment import page_environment
from services.gateway.ports import Gateway
from services.gateway.ratings import routes as rating_routes

_STATIC = Path(__file__).parent / "pages" / "static"
_HEADERS = {
    # Nothing but our own files; no inline script or style, whatever an answer contains.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def create_app(gateway: Gateway) -> FastAPI:
    """The application over its ports. The interactive API pages are left out: they load scripts from afar."""
    app = FastAPI(
        title="Nuggetstream",
        summary="Battles in; why one answer is better, and live ratings, out.",
        version=_version(),
        docs_url=None,
        redoc_url=None,
    )
    app.state.gateway = gateway
    env = page_environment()
    problems.install(app, page_routes.problem_page(env))
    # The more specific paths first: an id may contain slashes.
    app.include_router(submission_routes.routes(gateway))
    app.include_router(event_routes.routes(gateway))
    app.include_router(battle_routes.routes(gateway))
    app.include_router(rating_routes.routes(gateway))
    app.include_router(health.routes(gateway.readiness))
    app.include_router(page_routes.routes(gateway, env))
    app.mount("/static", StaticFiles(directory=_STATIC))
    app.add_middleware(_Headers)
    app.add_middleware(_Heads)
    _describe_submissions(app)
    return app


class _Headers:
    """Adds the protective headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class _Heads:
    """Answers HEAD like GET; the server leaves the body out. A stream has no head to be had alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD" and not scope["path"].endswith("/events"):
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


def _describe_submissions(app: FastAPI) -> None:
    """Add the schemas of submissions and votes to the OpenAPI document, once it is asked for."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(
                title=app.title, version=app.version, summary=app.summary, routes=app.routes
            )
            document["components"]["schemas"] |= submission_routes.SCHEMAS | battle_routes.SCHEMAS
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _version() -> str:
    try:
        return version("nuggetstream")
    except PackageNotFoundError:
        return "0"
