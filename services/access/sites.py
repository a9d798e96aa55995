"""Other sites whose pages may use the API (CORS) or show ours in a frame, and networks of proxies."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_ORIGIN = re.compile(r"https?://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Sites:
    """Sites that an operator allows, as origins such as `https://arena.example.org`.

    Attributes:
        cors_origins: Their pages may send requests to the API, with a key and never with our cookie.
        frame_ancestors: Their pages may show our pages in a frame.
    """

    cors_origins: tuple[str, ...] = ()
    frame_ancestors: tuple[str, ...] = ()

    def cors(self) -> dict[str, Any]:
        """The options of the middleware."""
        return {
            "allow_origins": self.cors_origins,
            "allow_methods": ["GET", "POST", "PATCH", "DELETE"],
            "allow_headers": ["authorization", "content-type", "last-event-id"],
            "expose_headers": ["link", "location", "retry-after"],
            "max_age": 600,
        }


def origins_of(names: Iterable[str]) -> tuple[str, ...]:
    """Origins without the empty ones, in lower case.

    Raises:
        ValueError: One is not an origin.

    >>> origins_of(["https://Arena.example.org", " ", "http://localhost:3000"])
    ('https://arena.example.org', 'http://localhost:3000')
    """
    origins = tuple(name.strip().lower() for name in names if name.strip())
    for origin in origins:
        if _ORIGIN.fullmatch(origin) is None:
            raise ValueError(f"{origin!r} is not an origin such as https://arena.example.org")
    return origins
