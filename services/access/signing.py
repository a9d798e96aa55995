"""How one service proves to another that it asks: a time, signed with a secret of the database."""

import hashlib
import hmac
from datetime import datetime

from services.access.keys import Keys

HEADER = "nuggetstream-internal"
_VALID = 300  # seconds; the clocks of two machines may differ by as much
_SECRET = "internal"  # noqa: S105 - the name of the secret


async def signature(keys: Keys) -> str:
    """What a service sends.

    Raises:
        Unavailable: The database does not answer.
    """
    at = str(int(keys.now().timestamp()))
    return f"{at}.{_signed(await keys.secret(_SECRET), at)}"


async def is_signed(keys: Keys, sent: str) -> bool:
    """Whether a service of this platform sent it, in the last five minutes.

    Raises:
        Unavailable: The database does not answer.
    """
    at, _, signed = sent.partition(".")
    if not at.isdecimal() or len(at) > 12 or not is_recent(int(at), keys.now()):
        return False
    return hmac.compare_digest(_signed(await keys.secret(_SECRET), at).encode(), signed.encode())


def is_recent(at: int, now: datetime) -> bool:
    """Whether a time, in seconds since 1970, is at most five minutes from now."""
    return abs(now.timestamp() - at) <= _VALID


def _signed(secret: str, at: str) -> str:
    return hmac.new(secret.encode(), at.encode(), hashlib.sha256).hexdigest()
