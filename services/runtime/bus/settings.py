"""Settings of the connection to the broker."""

import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.runtime.masking import secrets_in

DRAIN_WITHIN = 5  # seconds for draining; nats-py types its timeouts as whole numbers
_INBOX = "_INBOX"  # of clients of NATS by default


def inbox_of(user: str) -> str:
    """How the subjects begin on which a user gets replies, so that others can be kept from reading them.

    >>> inbox_of("scraper"), inbox_of("a user.with > signs")
    ('_INBOX_scraper', '_INBOX')
    """
    return f"{_INBOX}_{user}" if re.fullmatch(r"[\w-]+", user) else _INBOX


@dataclass(frozen=True, slots=True)
class BusSettings:
    """Addresses, credentials and timeouts of the connection to the broker.

    Attributes:
        servers: URLs of the cluster's servers.
        name: Name of this process in the broker's monitoring.
        connect_within: Seconds for the first connection.
        reconnect_wait: Seconds between attempts to reconnect.
        ping_interval: Seconds between pings; two unanswered pings end the connection.
        reply_within: Seconds until an unanswered request is sent again.
        publish_within: Seconds a publication may take, lost connections included.
        user: User name, if the cluster requires one.
        password: Password of that user.
        credentials: File with a user's JWT and key, if the cluster requires it.
        tls_ca: Certificates to trust, if the cluster uses TLS with its own authority.
    """

    servers: tuple[str, ...] = ("nats://127.0.0.1:4222",)
    name: str = "nuggetstream"
    connect_within: float = 30.0
    reconnect_wait: float = 0.25
    ping_interval: float = 15.0
    reply_within: float = 5.0
    publish_within: float = 10.0
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    credentials: Path | None = None
    tls_ca: Path | None = None

    def secrets(self) -> list[str | None]:
        """What must not appear in a log or a failure."""
        return [self.password, *(secret for url in self.servers for secret in secrets_in(url))]

    def options(self) -> dict[str, Any]:
        """The settings as options of the client library, which never stops trying to reconnect."""
        return {
            "servers": list(self.servers),
            "name": self.name,
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": self.reconnect_wait,
            "ping_interval": self.ping_interval,
            "drain_timeout": DRAIN_WITHIN,
            "inbox_prefix": _INBOX if self.user is None else inbox_of(self.user),
            "user": self.user,
            "password": self.password,
            "user_credentials": str(self.credentials) if self.credentials else None,
            "tls": ssl.create_default_context(cafile=self.tls_ca) if self.tls_ca else None,
        }
