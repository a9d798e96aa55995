"""Human votes as JSON."""

from datetime import datetime

from nuggetstream.domain.battle import Vote
from nuggetstream.views.common import View


class HumanVoteView(View):
    """The newest vote of one voter."""

    vote: Vote
    voter: str | None = None
    """Opaque id of the voter, as it was sent; null where it is not known."""
    comment: str | None = None
    voted_at: datetime


class VoteReceipt(View):
    """A vote was accepted."""

    battle_id: str
    vote: Vote
    voter: str | None = None
