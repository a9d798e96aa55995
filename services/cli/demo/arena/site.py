"""The site of the demo arena, as a site on another server would be written.

    a question is chosen  ->  POST /v1/battles           the platform begins to explain the battle
    a vote is cast        ->  POST /v1/battles/ID/vote   the page names the systems and shows the widget
    the widget is shown   ->  POST /v1/battles/ID/embed-token and GET /v1/battles/ID/events

Nothing of the explanation is on the page before the vote, since it would bias people. Where the platform
needs a key, this server has it and the browser does not: it gets a token for one battle, and the events from
this server.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from markdown_it import MarkdownIt
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from nuggetstream.client import AsyncClient, NuggetstreamError
from nuggetstream.domain.battle import Vote
from nuggetstream.files.templates import html_environment
from services.gateway.hosts import AllowedHosts, HostCheck

_HERE = Path(__file__).parent
_MARKDOWN = MarkdownIt("js-default")  # HTML in an answer is text
_BUTTONS = {
    Vote.A: "A is better",
    Vote.B: "B is better",
    Vote.TIE: "Equally good",
    Vote.BOTH_BAD: "Both are bad",
}


@dataclass(slots=True)
class Match:
    """Two answers that a person compares.

    Attributes:
        battle: The battle as it was submitted.
        vote: What the person said; None until then.
        voting: Held while a vote is sent, so that no second one is sent meanwhile.
    """

    battle: Mapping[str, Any]
    vote: Vote | None = None
    voting: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """The pages of the arena. Prepared battles stand for its systems, and a dictionary for its database.

    Attributes:
        prepared: Battles as JSON objects by id, each with a question and two answers.
        platform: The platform as this server reaches it.
        platform_url: The platform as browsers reach it, without a trailing slash.
        random: Decides which answer is on which side.
    """

    prepared: Mapping[str, Mapping[str, Any]]
    platform: AsyncClient
    platform_url: str
    random: Random = field(default_factory=Random)
    _matches: dict[str, Match] = field(default_factory=dict)

    @classmethod
    def of(cls, battles: Sequence[Mapping[str, Any]], platform: AsyncClient, platform_url: str) -> "Arena":
        """An arena of the battles that ask a question of their own; follow-up questions are left out."""
        prepared = {battle["id"]: battle for battle in battles if "conversation" not in battle}
        return cls(prepared=prepared, platform=platform, platform_url=platform_url)

    def app(self) -> Starlette:
        """The site as an ASGI application, which pages of other sites can neither read nor write to."""
        return Starlette(
            routes=[
                Route("/", self._questions),
                Route("/questions/{question}", self._choose, methods=["POST"]),
                Route("/battles/{battle}", self._compare),
                Route("/battles/{battle}/vote/{vote}", self._vote, methods=["POST"]),
                Route("/battles/{battle}/events", self._events),
                Mount("/static", StaticFiles(directory=_HERE / "static")),
            ],
            middleware=[Middleware(HostCheck, hosts=AllowedHosts())],
            exception_handlers={HTTPException: self._problem, NuggetstreamError: self._problem},
        )

    async def _questions(self, _: Request) -> Response:
        return self._page("questions.html", battles=self.prepared.values())

    async def _choose(self, request: Request) -> Response:
        """Begin a match of its own for each choice. Its explanation is often ready before the vote."""
        prepared = self.prepared.get(request.path_params["question"])
        if prepared is None:
            raise HTTPException(404, "There is no such question.")
        first, second = self.random.sample(("a", "b"), 2)
        sides = {"a": prepared[first], "b": prepared[second]}
        battle = {name: value for name, value in prepared.items() if name not in ("id", "vote")} | sides
        battle_id = f"arena-{uuid4().hex}"
        await self.platform.submit(battle | {"id": battle_id})
        self._matches[battle_id] = Match(battle)
        return RedirectResponse(f"/battles/{battle_id}", 303)

    async def _compare(self, request: Request) -> Response:
        battle_id, match = self._match(request)
        token = None if match.vote is None else (await self.platform.embed_token(battle_id)).token
        board = f"{self.platform_url}/leaderboard?arena={quote(match.battle['arena'], safe='')}"
        return self._page("battle.html", id=battle_id, match=match, token=token, board=board)

    async def _vote(self, request: Request) -> Response:
        """Take the first vote alone: a later one would come from somebody who has seen the explanation."""
        battle_id, match = self._match(request)
        vote = request.path_params["vote"]
        if vote not in list(Vote):
            raise HTTPException(404, "There is no such vote.")
        async with match.voting:
            if match.vote is None:
                await self.platform.vote(battle_id, vote)
                match.vote = Vote(vote)
        return RedirectResponse(f"/battles/{battle_id}", 303)

    async def _events(self, request: Request) -> Response:
        """The events of a battle, for whoever has voted on it."""
        battle_id, match = self._match(request)
        if match.vote is None:
            raise HTTPException(404, "Vote first.")
        return EventSourceResponse(self._told(battle_id))

    async def _told(self, battle_id: str) -> AsyncIterator[ServerSentEvent]:
        async for watched in self.platform.watch(battle_id):
            yield ServerSentEvent(watched.event.model_dump_json(), event=watched.event.kind)

    def _match(self, request: Request) -> tuple[str, Match]:
        battle_id = request.path_params["battle"]
        if battle_id not in self._matches:
            raise HTTPException(404, "There is no such battle.")
        return battle_id, self._matches[battle_id]

    async def _problem(self, _: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return self._page("problem.html", error.status_code, problem=error.detail)
        return self._page("problem.html", 502, problem=f"The platform could not do this: {error}")

    def _page(self, template: str, status: int = 200, **values: Any) -> Response:
        html = _TEMPLATES.get_template(template).render(
            platform=self.platform_url, buttons=_BUTTONS, **values
        )
        headers = {"Content-Security-Policy": self._policy, "Referrer-Policy": "same-origin"}
        return HTMLResponse(html, status, headers)

    @property
    def _policy(self) -> str:
        """Scripts are those of this site and the widget, and frames those of the platform."""
        return (
            f"default-src 'none'; script-src 'self' {self.platform_url}; frame-src {self.platform_url}; "
            "style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'"
        )


_TEMPLATES = html_environment(_HERE / "templates")
_TEMPLATES.filters["markdown"] = _MARKDOWN.render
