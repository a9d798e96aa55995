"""GET and POST /login, POST /logout: a login of the pages, for reading private arenas and for editing.

    a key in a form  ->  a row in the database and a cookie that scripts cannot read
    a wrong key      ->  counted for its client address

The cookie is sent by the browser alone, so every write with it must repeat a token of our own pages.
"""

from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment

from services.access.callers import Caller, Role, Unauthenticated
from services.access.keys import SESSION
from services.access.limits import Attempts
from services.access.visits import Visit, audit
from services.gateway.access.guard import SESSION_COOKIE, Access
from services.gateway.battles.bodies import read_form
from services.gateway.problems import EXPECTED, headers_of, problem_of, status_of

_MAX_BYTES = 16 * 1024
_NO_STORE = {"Cache-Control": "no-store"}


def routes(access: Access, env: Environment) -> APIRouter:
    """The routes of the login.

    Args:
        access: Finds callers.
        env: Templates of the pages.
    """
    router, login = APIRouter(include_in_schema=False), _Login(access, env)

    @router.get("/login")
    async def form(request: Request) -> Response:
        return login.page(_local(request.query_params.get("next", "/")))

    @router.post("/login")
    async def log_in(request: Request) -> Response:
        return await login.log_in(request)

    @router.post("/logout")
    async def log_out(request: Request) -> Response:
        return await login.log_out(request)

    return router


@dataclass(frozen=True, slots=True)
class _Login:
    access: Access
    env: Environment
    attempts: Attempts = field(default_factory=Attempts)

    def page(self, target: str, error: Exception | None = None) -> Response:
        """The form, with what went wrong."""
        problem = None if error is None else problem_of(error).error
        html = self.env.get_template("login/page.html").render(arena=None, target=target, problem=problem)
        if error is None:
            return HTMLResponse(html, headers=_NO_STORE)
        return HTMLResponse(html, status_of(error), _NO_STORE | dict(headers_of(error) or {}))

    async def log_in(self, request: Request) -> Response:
        """Open a login, and lead to where it was asked for."""
        target = "/"
        try:
            fields = await read_form(request, _MAX_BYTES)
            target = _local(fields.get("next", "/"))
            token = fields.get("key", "").strip()
            address = self.access.proxies.client_of(request.scope)
            self.attempts.take(address)
            caller, cookie, _ = await self.access.keys.log_in(token)
            self.attempts.succeeded(address)
        except EXPECTED as error:
            return self.page(target, error)
        await audit(self.access.log, self._visit(caller, cookie), "log in")
        response = RedirectResponse(target, 303, _NO_STORE)
        response.set_cookie(
            SESSION_COOKIE,
            cookie,
            max_age=int(SESSION.total_seconds()),
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    async def log_out(self, request: Request) -> Response:
        """End the login of a request; one that has ended before is forgotten by the browser as well."""
        cookie = request.cookies.get(SESSION_COOKIE, "")
        try:
            visit = self._visit(await self.access.keys.of_session(cookie), cookie)
            visit.check_csrf((await read_form(request, _MAX_BYTES)).get("csrf"))
            await self.access.keys.log_out(cookie)
            await audit(self.access.log, visit, "log out")
        except Unauthenticated:
            pass
        except EXPECTED as error:
            return self.page("/", error)
        response = RedirectResponse("/login", 303, _NO_STORE)
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
        return response

    def _visit(self, caller: Caller, cookie: str) -> Visit:
        again = partial(self.access.keys.of_session, cookie)
        return Visit(caller=caller, role=Role.READ, arena=None, again=again)


def _local(target: str) -> str:
    """A path of this site; "/" in place of everything else, such as another site.

    >>> _local("/battles/x?y#z"), _local("//evil.example"), _local("/\\\\evil.example"), _local("https://evil")
    ('/battles/x?y#z', '/', '/', '/')
    """
    parts = urlsplit(target)
    plain = target.startswith("/") and not target.startswith("//") and target.isprintable()
    return target if plain and "\\" not in target and not parts.scheme and not parts.netloc else "/"
