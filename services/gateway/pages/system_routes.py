"""The page of a system, alone or compared with another one.

GET /system?arena=…&name=…&against=…  ->  ratings, opponents, what it states and misses, battles
"""

import asyncio
from typing import Annotated

from fastapi import Request
from jinja2 import Environment
from pydantic import Field

from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.comparison import Pairing
from nuggetstream.ratings.options import Every
from nuggetstream.views.comparisons import PairsView
from nuggetstream.views.ratings import BoardView
from services.gateway.pages.board_routes import busiest_arena
from services.gateway.pages.comparison import counted, predictions, seen_from
from services.gateway.pages.trends import Trends, trends_of
from services.gateway.ports import Gateway
from services.gateway.query import query_from_form
from services.store.outcomes.system_shares import GroupShare
from services.wire.query_parameters import QueryParameters, Text
from services.wire.rating_queries import Arena, BoardsQuery, PairsQuery, TimelineQuery

_LISTED = 30  # battles in the table
_FACTS = 12


class SystemQuery(QueryParameters):
    """Which system the page is about."""

    arena: Arena = "default"
    """Arena of the battles."""
    name: Annotated[Text, Field(min_length=1)]
    """Name of the system."""
    against: Text | None = None
    """Name of another system to compare it with; all battles of the system when absent."""
    every: Every = Every.MONTH
    """Length of a period of the trends, in UTC."""


async def system(gateway: Gateway, env: Environment, request: Request) -> str:
    """GET /system."""
    _, busiest = await busiest_arena(gateway)
    query = query_from_form(SystemQuery, request.query_params, arena=busiest)
    against = None if query.against == query.name else query.against
    names = (query.name,) if against is None else (query.name, against)
    lenses = gateway.ratings.lenses
    boards = await gateway.ratings.boards(BoardsQuery(arena=query.arena, lens=lenses))
    pairs = await asyncio.gather(
        *(gateway.ratings.pairs(PairsQuery(arena=query.arena, lens=lens)) for lens in lenses)
    )
    battles = await counted(gateway, query.arena, names)
    opponents = _opponents(dict(zip(lenses, pairs, strict=True)), query.name, against)
    standings = {
        name: [next((s for s in board.standings if s.system == name), None) for board in boards]
        for name in names
    }
    return env.get_template("system/page.html").render(
        arena=query.arena,
        query=query,
        against=against,
        others=_others(boards, query.name),
        lenses=[lens.value for lens in lenses],
        standings=standings,
        absent=[name for name in names if not (battles.read[name] or any(standings[name]))],
        opponents=opponents,
        met=bool(battles.rows or opponents),
        predictions=predictions(pairs, query.name, against) if against else [],
        shares=[] if against else await _shares(gateway, query),
        trends=None if against else await _trends(gateway, query),
        facts=battles.facts,
        newest=battles.read[query.name],
        all_newest=battles.is_all,
        most=_FACTS,
        offline=await gateway.is_offline(query.arena),
        battles=await gateway.summaries(battles.rows[:_LISTED]),
        has_more=len(battles.rows) > _LISTED or not battles.is_all,
    )


def _others(boards: list[BoardView], name: str) -> list[str]:
    """The other systems of the boards, by name."""
    systems = {standing.system for board in boards for standing in board.standings}
    return sorted(systems - {name}, key=lambda system: (system.casefold(), system))


async def _trends(gateway: Gateway, query: SystemQuery) -> Trends:
    """The system over time in each lens."""
    lenses = gateway.ratings.lenses
    timelines = [
        await gateway.ratings.timeline(TimelineQuery(arena=query.arena, lens=lens, every=query.every))
        for lens in lenses
    ]
    return trends_of(dict(zip((lens.value for lens in lenses), timelines, strict=True)), query.name)


async def _shares(gateway: Gateway, query: SystemQuery) -> list[tuple[GroupShare, list[GroupShare | None]]]:
    """Per category and language the outcomes of each lens, first in the lens that has most; largest first."""
    by_group: dict[tuple[str, str], list[GroupShare | None]] = {}
    lenses = gateway.ratings.lenses
    for number, lens in enumerate(lenses):
        for share in await gateway.shares.of_system(query.arena, lens, query.name):
            by_group.setdefault((share.kind, share.value), [None] * len(lenses))[number] = share
    largest = ((max(filter(None, own), key=lambda share: share.battles), own) for own in by_group.values())
    return sorted(largest, key=lambda row: (row[0].kind != "tag", -row[0].battles, row[0].value))


def _opponents(
    pairs: dict[Lens, PairsView], system: str, against: str | None
) -> dict[str, list[Pairing | None]]:
    """Per opponent the pairing in each lens, with the system as A; the most frequent opponents first."""
    by_opponent: dict[str, list[Pairing | None]] = {}
    for number, view in enumerate(pairs.values()):
        for pair in view.pairs:
            turned = seen_from(pair, system)
            if turned.a == system and turned.share is not None and against in (None, turned.b):
                by_opponent.setdefault(turned.b, [None] * len(pairs))[number] = turned
    return dict(sorted(by_opponent.items(), key=lambda one: -sum(p.battles for p in one[1] if p is not None)))
