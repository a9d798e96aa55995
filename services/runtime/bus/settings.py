"""How to reach the broker."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DRAIN_WITHIN = 5  # seconds for goodbyes; nats-py types its timeouts as whole numbers


@dataclass(frozen=True, slots=True)
class BusSettings:
    """How to reach the broker, and how long to wait for it.

    Attributes:
        servers: addresses of the cluster's servers.
        name: this process in the broker's monitoring.
        connect_within: seconds for the first connection.
        reconnect_wait: seconds between attempts to come back.
        ping_interval: seconds between pings; two unanswered ones end the connection.
        reply_within: seconds until an unanswered request is asked again.
        publish_within: seconds a publication may take, lost connections included.
        unhealthy_after: seconds without a connection after which `healthy` is false.
        user, password, token, credentials, tls_ca: as the cluster asks for.
    """

    servers: tuple[str, ...] = ("nats://127.0.0.1:4222",)
    name: str = "nuggetstream"
    connect_within: float = 30.0
    reconnect_wait: float = 0.25
    ping_interval: float = 15.0
    reply_within: float = 5.0
    publish_within: float = 30.0
    unhealthy_after: float = 60.0
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    credentials: Path | None = None
    tls_ca: Path | None = None

    def options(self) -> dict[str, Any]:
        """The settings in the client library's words. It never stops trying to come back."""
        return {
            "servers": list(self.servers),
            "name": self.name,
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": self.reconnect_wait,
            "ping_interval": self.ping_interval,
            "drain_timeout": DRAIN_WITHIN,
            "user": self.user,
            "password": self.password,
            "token": self.token,
            "user_credentials": str(self.credentials) if self.credentials else None,
            "tls": ssl.create_default_context(cafile=self.tls_ca) if self.tls_ca else None,
        }
