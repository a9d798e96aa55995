"""Who may use the routes for administrators.

a token is configured  ->  whoever sends it as `Authorization: Bearer TOKEN`
no token               ->  programs on this machine, if the gateway listens on loopback only
"""

import base64
import hmac
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request

from services.gateway.errors import Forbidden
from services.runtime.listening import is_loopback

_UNPROTECTED = "set NUGGETSTREAM_ADMIN_TOKEN to use this: the gateway can be reached from other machines"
_WRONG = "this needs the administrators' token, as 'Authorization: Bearer TOKEN'"
_PAGE = "this page needs the administrators' token as the password; the user name does not matter"
_WRONG_FORM = "this needs the administrators' token"
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
        sent, is_from_page = request.headers.get("authorization", ""), "origin" in request.headers
        self._check(request, sent, f"Bearer {self.token}", _WRONG, is_foreign=is_from_page)

    @property
    def by_form(self) -> bool:
        """Whether the forms of pages can be used: by those who know the token, or on this machine."""
        return self.token is not None or is_loopback(self.host)

    def check_form(self, request: Request, token: str) -> None:
        """Check a form of one of our own pages; forms of other sites are rejected before (`hosts`).

        Args:
            request: The request.
            token: What the form has in its field for the token.

        Raises:
            Forbidden: It has no right.
        """
        self._check(request, token, self.token or "", _WRONG_FORM)

    async def check_page(self, request: Request) -> None:
        """Check a request for an administrators' page: a browser asks a person for the token.

        Basic authorization is accepted only here, because browsers send it unasked, also with requests that
        another site's page makes them send; reading a page changes nothing.

        Raises:
            HTTPException: It has not the token, which the browser is told to ask for.
            Forbidden: There is no token, and the request does not come from this machine.
        """
        if self.token is None:
            await self(request)
            return
        kind, _, sent = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "basic":
            sent = _password(sent)
        if not hmac.compare_digest(sent.encode(), self.token.encode()):
            challenge = {"WWW-Authenticate": 'Basic realm="nuggetstream administrators", charset="UTF-8"'}
            raise HTTPException(401, _PAGE, challenge)

    def _check(
        self, request: Request, sent: str, expected: str, wrong: str, *, is_foreign: bool = False
    ) -> None:
        """Compare what was sent where there is a token; else only programs on this machine pass."""
        if self.token is not None:
            if not hmac.compare_digest(sent.encode(), expected.encode()):
                raise Forbidden(wrong)
        elif not is_loopback(self.host):
            raise Forbidden(_UNPROTECTED)
        elif is_foreign or not is_loopback(request.url.hostname or ""):
            # A page on the web, which names itself, or a name of the web that leads to this machine.
            raise Forbidden(_FOREIGN)


def _password(credentials: str) -> str:
    """The password of Basic authorization; empty where there is none."""
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""
