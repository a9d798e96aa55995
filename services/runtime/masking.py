"""Keep secrets out of logs, failures and messages: known ones are replaced, and URLs lose theirs."""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, quote, unquote, urlsplit

_STARS = "***"
# Up to the last @ of the word, because a password may contain one, or a slash that is not encoded; but not
# beyond the next ://, so that the time stays linear.
_USERINFO = re.compile(r"(?<=://)(?:([^/@:\s,]*)(:)(?:(?!://)[^\s,])*|[^/\s,]*)@")
_SHOWN_PARAMETERS = frozenset({"api-version", "ssl", "sslmode"})
_PARAMETER = re.compile(r"(?<=[?&;])([^=&;#\s,]+)=([^&;#\s,]*)")
_CREDENTIALS = re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}")
_KEY = re.compile(r"\bsk-[A-Za-z0-9_-]{16,}")
_SECRET_NAME = re.compile(r"(?i)password|secret|token|key")
_NOT_SHOWN = re.compile(r"(?i)^(?!api-version$)")
_LEAST = 4  # characters; shorter secrets would blank ordinary words
_LEAST_IN_CONTENT = (
    16  # characters; local endpoints are given keys such as "none", which are words of replies
)


def masked_url(url: str) -> str:
    """A URL in which `***` stands for a password, a NATS token, and the values of query parameters.

    >>> masked_url("nats://ada:secret@broker:4222"), masked_url("nats://token@broker:4222")
    ('nats://ada:***@broker:4222', 'nats://***@broker:4222')
    >>> masked_url("http://127.0.0.1:8000/v1?api-key=secret&api-version=1")
    'http://127.0.0.1:8000/v1?api-key=***&api-version=1'
    """
    return _PARAMETER.sub(_masked_parameter, _USERINFO.sub(_masked_user, url))


def secrets_in(url: str) -> list[str]:
    """The secrets of a URL: its password, or a user name without one, and the values of its parameters.

    A user name without a password is a token, except in the URL of a database.
    """
    try:
        parts = urlsplit(url)
        user, password = parts.username, parts.password
    except ValueError:  # not a URL; whoever uses it says so
        return []
    is_token = parts.scheme.partition("+")[0] not in ("postgresql", "sqlite")
    secret = password if password is not None else user if is_token else None
    # The parameters of a database URL are mostly options, whose values are ordinary words.
    secret_name = _SECRET_NAME if "http" not in parts.scheme else _NOT_SHOWN
    values = [value for name, value in parse_qsl(parts.query) if secret_name.search(name)]
    return [text for text in (secret, unquote(secret) if secret else None, *values) if text]


class KnownSecrets:
    """The secrets that a process was configured with, in the forms in which they may come back to it."""

    def __init__(self) -> None:
        self._forms: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._long_pattern: re.Pattern[str] | None = None

    def remember(self, *secrets: str | None) -> None:
        """Replace these texts from now on; None and texts below four characters are ignored."""
        added = {form for secret in secrets if secret for form in _forms(secret) if len(form) >= _LEAST}
        if added <= self._forms:
            return
        self._forms |= added
        self._pattern = _any_of(self._forms)
        self._long_pattern = _any_of(form for form in self._forms if len(form) >= _LEAST_IN_CONTENT)

    def hide(self, text: str) -> str:
        """The text with `***` in place of every known secret."""
        return text if self._pattern is None else self._pattern.sub(_STARS, text)

    def hide_in_content(self, text: str) -> str:
        """As `hide`, for a text that is evaluated: secrets below 16 characters may be words of it."""
        return text if self._long_pattern is None else self._long_pattern.sub(_STARS, text)

    def redact(self, text: str) -> str:
        """As `hide`, and without what looks like a secret: credentials in URLs and headers, API keys."""
        text = masked_url(self.hide(text)) if "://" in text else self.hide(text)
        return _KEY.sub(_STARS, _CREDENTIALS.sub(rf"\1 {_STARS}", text))


KNOWN = KnownSecrets()
"""The secrets of this process: settings are remembered where connections are made from them."""


def _any_of(forms: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern that matches any of the texts, the longest first; None for no texts."""
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _forms(secret: str) -> set[str]:
    encoded = {quote(secret, safe=""), quote(secret), json.dumps(secret)[1:-1]}
    return {secret, base64.b64encode(secret.encode()).decode(), *encoded}


def _masked_user(match: re.Match[str]) -> str:
    return f"{match[1]}:{_STARS}@" if match[2] else f"{_STARS}@"


def _masked_parameter(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _SHOWN_PARAMETERS else f"{match[1]}={_STARS}"
