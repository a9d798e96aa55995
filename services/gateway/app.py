"""The HTTP application of the gateway: REST, server-sent events and web pages."""

from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Security
from fastapi.openapi.utils import get_openapi
from fastapi.security import HTTPBearer
from fastapi.telemetry import TelemetryConfig
from pydantic.json_schema import models_json_schema
from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nuggetstream.files.crowd_study import CrowdStudySubmission
from nuggetstream.files.nugget_edit import NuggetEditSubmission
from nuggetstream.files.submission import BattleSubmission
from nuggetstream.files.vote_submission import VoteSubmission
from nuggetstream.files.webhook import SecretRotation, WebhookSubmission
from nuggetstream.views.events import event_schema
from services.access.sites import Sites
from services.gateway import health, problems
from services.gateway.access import login
from services.gateway.access.guard import VisitLog
from services.gateway.battles import event_routes, submission_routes
from services.gateway.battles import routes as battle_routes
from services.gateway.embed import routes as embed_routes
from services.gateway.embed.routes import EmbedTokenRequest
from services.gateway.hosts import AllowedHosts, HostCheck
from services.gateway.measuring import MeasuredRequests
from services.gateway.pages import api_docs
from services.gateway.pages import routes as page_routes
from services.gateway.pages.environment import page_environment
from services.gateway.ports import Gateway
from services.gateway.ratings import routes as rating_routes

_POLICY = "Content-Security-Policy"
_STATIC = Path(__file__).parent / "pages" / "static"
_HEADERS = {
    # Only our own files, and no inline script or style, whatever an answer contains.
    _POLICY: (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    # No address for other sites. With "no-referrer" our own forms would not even name their origin.
    "Referrer-Policy": "same-origin",
}


_NO_SITES = Sites()
_KEY = HTTPBearer(  # tells the page of the API where a key goes; `access` checks it
    scheme_name="key", description="A key of this installation, where it needs one.", auto_error=False
)
_BODIES = (
    BattleSubmission,
    VoteSubmission,
    NuggetEditSubmission,
    EmbedTokenRequest,
    WebhookSubmission,
    SecretRotation,
    CrowdStudySubmission,
)
_REFERENCE = "#/components/schemas/{model}"
_ENDLESS = ("/events", "/stream")


def create_app(
    gateway: Gateway, hosts: AllowedHosts | None = None, *more: APIRouter, sites: Sites = _NO_SITES
) -> FastAPI:
    """The HTTP application.

    The framework's interactive API pages load scripts from other sites; `/docs` is packaged Swagger UI.

    Args:
        gateway: What the routes read and write.
        hosts: The names that it answers to; only those of loopback when None.
        more: Further routes, such as those for administrators.
        sites: Other sites whose pages may use the API, or show ours in a frame.
    """
    access = gateway.access
    app = FastAPI(
        title="Nuggetstream",
        summary="Send battles between LLM answers; read why one answer is better, and live ratings.",
        version=_version(),
        docs_url=None,
        redoc_url=None,
        telemetry=TelemetryConfig(metrics=False, logs=False, operation_spans=False, exclude=_is_untraced),
        dependencies=[] if access is None else [Depends(access), Security(_KEY)],
    )
    app.state.gateway = gateway
    env = page_environment()
    problems.install(app)
    # An id may contain slashes, so the more specific paths come first.
    for router in more:
        app.include_router(router)
    app.include_router(embed_routes.routes(gateway, env, None if access is None else access.keys))
    app.include_router(submission_routes.routes(gateway))
    app.include_router(event_routes.routes(gateway))
    app.include_router(battle_routes.routes(gateway))
    app.include_router(rating_routes.routes(gateway))
    app.include_router(health.routes(gateway.readiness, gateway.models, gateway.draining.reasons))
    app.include_router(page_routes.routes(gateway, env))
    app.include_router(api_docs.routes(env))
    if access is not None:
        app.include_router(login.routes(access, env))
        app.add_middleware(VisitLog, access=access)
    app.mount("/static/swagger", api_docs.FILES)
    app.mount("/static", StaticFiles(directory=_STATIC))
    if sites.cors_origins:
        app.add_middleware(CORSMiddleware, **sites.cors())
    app.add_middleware(HostCheck, hosts=replace(hosts or AllowedHosts(), origins=sites.cors_origins))
    app.add_middleware(_ProtectiveHeaders, frame_ancestors=sites.frame_ancestors)
    app.add_middleware(_HeadAsGet)
    app.add_middleware(MeasuredRequests)  # the last one added sees the request first
    _add_body_schemas(app)
    return app


class _ProtectiveHeaders:
    """Adds the protective headers to every response."""

    def __init__(self, app: ASGIApp, frame_ancestors: Sequence[str] = ()) -> None:
        self._app = app
        policy = _HEADERS[_POLICY] + "; frame-ancestors "
        self._unframed = _HEADERS | {_POLICY: policy + "'none'"}
        self._framed = _HEADERS | {_POLICY: policy + (" ".join(frame_ancestors) or "'none'")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                alone = scope["path"] == "/login" or scope["path"].startswith("/studies/")
                headers = self._unframed if alone else self._framed
                if scope["path"] == "/docs":  # the style of Swagger UI has its icons
                    headers = headers | {_POLICY: headers[_POLICY].replace("img-src", "img-src data:")}
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class _HeadAsGet:
    """Answers HEAD like GET, and the server leaves the body out; not for event streams, which never end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD" and not scope["path"].endswith(_ENDLESS):
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


def _add_body_schemas(app: FastAPI) -> None:
    """Add what the framework does not see to the OpenAPI document: bodies read as streams, and events."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(
                title=app.title, version=app.version, summary=app.summary, routes=app.routes
            )
            _, bodies = models_json_schema(
                [(body, "validation") for body in _BODIES], ref_template=_REFERENCE
            )
            event = event_schema(_REFERENCE)
            schemas = {**bodies["$defs"], **event.pop("$defs"), "BattleEvent": event}
            document["components"]["schemas"] |= schemas
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _is_untraced(scope: MutableMapping[str, Any]) -> bool:
    """Probes, which tell nothing, and pages whose addresses have tokens, which no collector may see."""
    path: str = scope["path"]
    return path in ("/healthz", "/readyz") or path.startswith(("/embed/", "/studies/"))


def _version() -> str:
    try:
        return version("nuggetstream")
    except PackageNotFoundError:
        return "0"
