"""The response of a page: what it renders, or the page of the problem that prevented it."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment

from nuggetstream.views.common import Problem
from services.gateway.pages.asked import asked_arena
from services.gateway.problems import EXPECTED, ProblemPage, headers_of, problem_of, status_of

Render = Callable[[], Awaitable[str | Response]]


def problem_page(env: Environment) -> ProblemPage:
    """A function that renders a problem as a page."""

    def page(problem: Problem, status: int, headers: Mapping[str, str] | None = None) -> HTMLResponse:
        template = env.get_template("problem/page.html")
        html = template.render(arena=asked_arena(), status=HTTPStatus(status), problem=problem)
        return HTMLResponse(html, status, headers)

    return page


async def page_response(env: Environment, render: Render) -> Response:
    """A rendered page or another response, or the page of the problem that prevented it."""
    try:
        rendered = await render()
    except EXPECTED as error:
        return problem_page(env)(problem_of(error), status_of(error), headers_of(error))
    return rendered if isinstance(rendered, Response) else HTMLResponse(rendered)
