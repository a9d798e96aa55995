"""The query parameters of the pages; the leaderboard takes those of `ratings.query.BoardsQuery`."""

from services.gateway.battles.query import Order
from services.gateway.query import QueryParameters, Text


class HomePageQuery(QueryParameters):
    """Which battles the home page lists."""

    arena: Text | None = None
    """Only this arena; all arenas when absent."""
    order: Order = Order.NEWEST
    """newest, or doubt: the battles of the arena that wait most for a vote."""
    flagged: bool = False
    """Only battles with a flagged answer; all battles when false."""
