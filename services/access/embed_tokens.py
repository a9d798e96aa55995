"""Tokens with which a page in a frame reads one battle, and may vote on it, for a while.

    a key that may read the battle  ->  a token in the URL of the frame  ->  a caller for this battle alone

A frame on another site has neither our cookie nor a key, and a key in a web page is known to everybody who
visits it. A token is signed with a secret of the database and stored nowhere.
"""

import hashlib
import hmac
import json
from datetime import datetime, timedelta

from services.access.callers import ANYBODY, Caller, Role, Unauthenticated
from services.access.keys import Keys

LONGEST = timedelta(days=1)
_SECRET = "embed"  # noqa: S105 - the name of the secret
_WITHOUT_KEY = frozenset({ANYBODY.key_id, "local"})
_INVALID = "the token of this frame is invalid or has expired; the arena makes a new one"


async def embed_token(keys: Keys, battle_id: str, key_id: str, until: datetime, *, may_vote: bool) -> str:
    """A token for one battle.

    Args:
        keys: Has the secret.
        battle_id: The battle.
        key_id: Key in whose name it is made; the token ends with that key.
        until: When it expires.
        may_vote: Whether it is for voting, beside reading.

    Raises:
        Unavailable: The database does not answer.
    """
    parts = [str(int(until.timestamp())), "vote" if may_vote else "read", key_id]
    return ".".join([*parts, _signed(await keys.secret(_SECRET), *parts, battle_id)])


async def caller_of(keys: Keys, token: str, battle_id: str) -> Caller:
    """Who shows a token for a battle. Its rights are for that battle alone, within the limits of the key.

    Raises:
        Unauthenticated: The token is not for this battle, has expired, or its key is no longer valid.
        Unavailable: The database does not answer.
    """
    *parts, signed = token.split(".")
    expected = _signed(await keys.secret(_SECRET), *parts, battle_id)
    if len(parts) != 3 or not hmac.compare_digest(expected.encode(), signed.encode()):
        raise Unauthenticated(_INVALID)
    until, right, key_id = parts
    if keys.now().timestamp() >= int(until):
        raise Unauthenticated(_INVALID)
    roles, per_minute = ({Role.READ, Role.VOTE} if right == "vote" else {Role.READ}), None
    if key_id in _WITHOUT_KEY:
        if await keys.required():
            raise Unauthenticated(_INVALID)
    else:
        owner = await keys.of_id(key_id)
        roles, per_minute = {role for role in roles if owner.has(role)}, owner.per_minute
    return Caller(key_id=key_id, roles=frozenset(roles), per_minute=per_minute, frame=battle_id)


def _signed(secret: str, *parts: str) -> str:
    return hmac.new(secret.encode(), json.dumps(parts).encode(), hashlib.sha256).hexdigest()
