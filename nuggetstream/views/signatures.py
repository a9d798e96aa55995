"""Signatures of webhooks, as the Standard Webhooks specification defines them.

The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` come with every event. The signature is
HMAC-SHA256 of the id, the timestamp and the body, with dots between them.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

PREFIX = "whsec_"
TOLERANCE = timedelta(minutes=5)
_VERSION = "v1"


class InvalidSignature(ValueError):
    """What arrived was not signed with the secret, or too long ago."""


def new_secret() -> str:
    """A secret of 256 random bits."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`.

    Args:
        secret: The secret, `whsec_` and base64.
        message_id: The value of `webhook-id`.
        timestamp: The value of `webhook-timestamp`, in seconds since 1970.
        body: The body as it is sent.

    Raises:
        ValueError: The secret is not `whsec_` and base64.

    Source: Standard Webhooks, https://www.standardwebhooks.com.

    >>> secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
    >>> body = b'{"email":"test@example.com","username":"test_user"}'
    >>> signature(secret, "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1649367553, body)
    'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw='
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError(f"the secret is not {PREFIX} and base64") from error
    content = f"{message_id}.{timestamp}.".encode() + body
    return f"{_VERSION},{base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()}"


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: datetime | None = None) -> None:
    """Check that a body was signed with a secret within the last five minutes.

    Args:
        secret: The secret that was shown when the webhook was added.
        headers: The headers of the request, in any case.
        body: The body as it arrived; a body that was parsed and written again has another signature.
        now: The time; that of the clock when None.

    Raises:
        InvalidSignature: It was not.
        ValueError: The secret is not `whsec_` and base64.
    """
    named = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = named.get("webhook-id", ""), named.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise InvalidSignature("webhook-timestamp is no time")
    age = (now or datetime.now(UTC)).timestamp() - int(timestamp)
    if abs(age) > TOLERANCE.total_seconds():
        raise InvalidSignature(f"webhook-timestamp is {age:.0f} seconds ago")
    expected = signature(secret, message_id, int(timestamp), body).encode()
    sent = named.get("webhook-signature", "").split()  # several while a secret is replaced
    if not any(hmac.compare_digest(candidate.encode(), expected) for candidate in sent):
        raise InvalidSignature("webhook-signature does not fit")
