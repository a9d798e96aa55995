"""Who may use the routes for administrators.

a token is configured  ->  whoever sends it as `Authorization: Bearer TOKEN`
no token               ->  programs on this machine, if the gateway listens on loopback only
"""

import hmac
import ipaddress
from dataclasses import dataclass

from starlette.requests import Request

from services.gateway.errors import Forbidden

_UNPROTECTED = "set NUGGETSTREAM_ADMIN_TOKEN to use this: the gateway can be reached from other machines"
_WRONG = "this needs the administrators' token, as 'Authorization: Bearer TOKEN'"
_FOREIGN = "without NUGGETSTREAM_ADMIN_TOKEN this is for programs on this machine, not for web pages"


@dataclass(frozen=True, slots=True)
class AdminAccess:
    """Whether a request may administer the platform.

    Attributes:
        token: Token that administrators send; None where there is none.
        host: Address that the gateway is bound to.
    """

    token: str | None
    host: str

    async def __call__(self, request: Request) -> None:
        """Check a request; a dependency of every route for administrators.

        Raises:
            Forbidden: It has no right.
        """
        if self.token is not None:
            sent = request.headers.get("authorization", "")
            if not hmac.compare_digest(sent.encode(), f"Bearer {self.token}".encode()):
                raise Forbidden(_WRONG)
        elif not is_loopback(self.host):
            raise Forbidden(_UNPROTECTED)
        elif "origin" in request.headers or not is_loopback(request.url.hostname or ""):
            # A page on the web, which names itself, or a name of the web that leads to this machine.
            raise Forbidden(_FOREIGN)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine for programs on it.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("192.0.2.1"), is_loopback("a.example")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
