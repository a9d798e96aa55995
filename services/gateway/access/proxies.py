"""Proxies in front of the gateway whose headers count, by their addresses. None does by default."""

import ipaddress
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope

from services.access.callers import Unauthenticated
from services.access.sites import Network


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """Which proxies are trusted, and with what.

    Attributes:
        networks: Addresses from which a trusted proxy connects.
        user_header: Header in which it names the user whom it has authenticated; None where it names none.
    """

    networks: tuple[Network, ...] = ()
    user_header: str | None = None

    def user_of(self, request: Request) -> str | None:
        """The user that a trusted proxy names; None where there is none. Headers of others are ignored.

        Raises:
            Unauthenticated: Several users are named, so a client has sent the header as well.
        """
        if self.user_header is None or not self._trusted(request.scope):
            return None
        users = request.headers.getlist(self.user_header)
        if len(users) > 1:
            raise Unauthenticated(f"the header {self.user_header} is sent more than once")
        return users[0] if users and users[0] else None

    def scheme_of(self, scope: Scope) -> str:
        """The scheme that the client uses, for a proxy that ends TLS."""
        scheme = Headers(scope=scope).get("x-forwarded-proto")
        if scheme in ("http", "https") and self._trusted(scope):
            return scheme
        return str(scope["scheme"])

    def client_of(self, scope: Scope) -> str:
        """The address of the client, as far as it is known; of IPv6 its network of 64 bits.

        Of the addresses that trusted proxies have added, it is the last that is none of theirs.
        """
        client = scope.get("client")
        address = str(client[0]) if client else ""
        addresses = Headers(scope=scope).getlist("x-forwarded-for") if self._trusted(scope) else []
        for hop in reversed([part.strip() for line in addresses for part in line.split(",")]):
            if not self._is_trusted(address):
                break
            address = hop
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return ""
        return str(ipaddress.ip_network((parsed, 64 if parsed.version == 6 else 32), strict=False))

    def _trusted(self, scope: Scope) -> bool:
        client = scope.get("client")
        return client is not None and self._is_trusted(str(client[0]))

    def _is_trusted(self, client: str) -> bool:
        try:
            address = ipaddress.ip_address(client)
        except ValueError:
            return False
        return any(address in network for network in self.networks)
