"""Tokens for frames as JSON."""

from datetime import datetime

from nuggetstream.views.common import View


class EmbedToken(View):
    """A token with which a page in a frame reads one battle, and votes on it if it was made for that."""

    token: str
    expires_at: datetime
    vote: bool
    path: str
    """Path of the page at the gateway, with the token."""
