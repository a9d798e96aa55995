"""Webhooks as administrators send them: checked JSON."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field

from nuggetstream.files.fields import Name, Strict, Text

_MAX_URL = 2000
LONGEST_OVERLAP = 30 * 24.0
"""Hours for which two secrets may sign."""


def web_address(url: str) -> str:
    """The URL as it is, if events can be sent there.

    Raises:
        ValueError: It is no web address, or has a user name, which would be shown.

    >>> web_address("ftp://example.org")
    Traceback (most recent call last):
    ValueError: should begin with https:// or http:// and name a host
    """
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        named = False
    if not (named and url.isascii() and url.isprintable() and " " not in url):
        raise ValueError("should begin with https:// or http:// and name a host")
    if "@" in parts.netloc:
        raise ValueError("has a user name or password; the receiver knows us by the signature")
    if parts.fragment:
        raise ValueError("has a fragment, which is never sent")
    return url


class WebhookSubmission(Strict):
    """Where the events of an arena are to be sent."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    url: Annotated[Text, Field(max_length=_MAX_URL), AfterValidator(web_address)]
    """Where events are sent, by POST."""
    arena: Name = "default"
    """Arena of the battles."""
    kinds: list[Name] = Field(default_factory=list, max_length=20)
    """Kinds of events; all when empty."""
    tags: list[Name] = Field(default_factory=list, max_length=100)
    """Tags of which a battle has one; all battles when empty."""
    languages: list[Name] = Field(default_factory=list, max_length=100)
    """Language tags, declared or detected; all battles when empty."""


class SecretRotation(Strict):
    """How the secret of a webhook is replaced."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    overlap_hours: Annotated[float, Field(ge=0, le=LONGEST_OVERLAP)] = 24.0
    """Hours for which events are signed with both secrets; 0 where the old one has become known to others."""
