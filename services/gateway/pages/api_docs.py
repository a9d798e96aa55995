"""GET /docs: the API as Swagger UI shows its OpenAPI document; nothing is loaded from elsewhere.

The package fastapi_offline has the files of Swagger UI.
"""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment

FILES = StaticFiles(packages=[("fastapi_offline", "static")])
"""Script and style of Swagger UI, which the page reads below /static/swagger."""


def routes(env: Environment) -> APIRouter:
    """The route of the page.

    Args:
        env: Jinja environment of the templates.
    """
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/docs")
    async def docs(request: Request) -> str:
        arena = request.query_params.get("arena") or None  # only for the links of the page
        return env.get_template("docs/page.html").render(arena=arena)

    return router
