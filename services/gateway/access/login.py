"""GET and POST /login, POST /logout: a login of the pages, for reading private arenas and for editing.

    a key in a form  ->  a row in the database and a cookie that scripts cannot read

The cookie is sent by the browser alone, so every write with it must repeat a token of our own pages.
"""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment

from services.access.callers import Denied, Unauthenticated
from services.access.keys import SESSION
from services.access.visits import Visit, audit
from services.gateway.access.guard import SESSION_COOKIE, Access
from services.gateway.battles.bodies import declared_type, read_all
from services.gateway.errors import InvalidQuery
from services.gateway.problems import EXPECTED, headers_of, problem_of, status_of

_FORM = "application/x-www-form-urlencoded"
_MAX_BYTES = 16 * 1024
_NO_STORE = {"Cache-Control": "no-store"}


def routes(access: Access, env: Environment) -> APIRouter:
    """The routes of the login.

    Args:
        access: Finds callers.
        env: Templates of the pages.
    """
    router = APIRouter(include_in_schema=False)

    def page(target: str, status: int = 200, problem: str | None = None) -> Response:
        html = env.get_template("login/page.html").render(arena=None, target=target, problem=problem)
        return HTMLResponse(html, status, _NO_STORE)

    @router.get("/login")
    async def form(request: Request) -> Response:
        return page(_local(request.query_params.get("next", "/")))

    @router.post("/login")
    async def log_in(request: Request) -> Response:
        target = "/"
        try:
            fields = await _fields(request)
            target = _local(fields.get("next", "/"))
            caller, cookie, _ = await access.keys.log_in(fields.get("key", "").strip())
        except (*EXPECTED, Denied) as error:
            return page(target, status_of(error), problem_of(error).error)
        visit = Visit(caller, next(iter(caller.roles)), None, lambda: access.keys.of_session(cookie))
        await audit(access.log, visit, "log in")
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

    @router.post("/logout")
    async def log_out(request: Request) -> Response:
        cookie = request.cookies.get(SESSION_COOKIE)
        response = RedirectResponse("/login", 303, _NO_STORE)
        try:
            if cookie is not None:
                caller = await access.keys.of_session(cookie)
                visit = Visit(caller, next(iter(caller.roles)), None, lambda: access.keys.of_session(cookie))
                visit.check_csrf((await _fields(request)).get("csrf"))
                if caller.session is not None:
                    await access.keys.log_out(caller.session)
                await audit(access.log, visit, "log out")
        except Unauthenticated:
            pass  # the login has ended before
        except (*EXPECTED, Denied) as error:
            html = env.get_template("login/page.html").render(
                arena=None, target="/", problem=problem_of(error).error
            )
            return HTMLResponse(html, status_of(error), headers_of(error))
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
        return response

    return router


def _local(target: str) -> str:
    """A path of this site; "/" in place of everything else, such as another site.

    >>> _local("/battles/x?y#z"), _local("//evil.example"), _local("/\\\\evil.example"), _local("https://evil")
    ('/battles/x?y#z', '/', '/', '/')
    """
    parts = urlsplit(target)
    plain = target.startswith("/") and not target.startswith("//") and target.isprintable()
    return target if plain and "\\" not in target and not parts.scheme and not parts.netloc else "/"


async def _fields(request: Request) -> Mapping[str, str]:
    declared_type(request.headers, _FORM)
    try:
        return dict(
            parse_qsl((await read_all(request.stream(), _MAX_BYTES)).decode(), keep_blank_values=True)
        )
    except ValueError as error:
        raise InvalidQuery([f"the form cannot be read: {error}"]) from None
