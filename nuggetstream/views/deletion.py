"""Deletions of battles, as JSON."""

from datetime import datetime
from typing import Literal

from nuggetstream.views.common import View


class BattleDeletion(View):
    """The result of deleting one battle."""

    id: str
    result: Literal["deleted", "unchanged"]
    """"unchanged" where the battle was deleted before."""


class Expiry(View):
    """The result of deleting a batch of old battles."""

    before: datetime
    """The battles were received before this time."""
    battles: int
    """Number of battles deleted; in a dry run, of all battles that would be."""
    more: bool
    """Whether there may be more."""
