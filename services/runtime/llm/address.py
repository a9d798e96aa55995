"""The URL of a model's endpoint, whose credentials are sent as the endpoint expects them."""

import base64
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit


@dataclass(frozen=True, slots=True)
class EndpointAddress:
    """An endpoint.

    Attributes:
        url: Base URL without credentials and parameters.
        parameters: Query parameters, such as `api-key`, which every request carries.
        headers: Headers of every request: Basic authorization where the URL has a user or a password, which
            takes the place of an API key, because a request has one Authorization header.
    """

    url: str
    parameters: dict[str, str]
    headers: dict[str, str]

    @classmethod
    def of(cls, url: str, api_key: str | None) -> "EndpointAddress":
        """The address that an operator configured.

        Raises:
            ValueError: The URL has no host, or its port is not a number.
        """
        parts = urlsplit(url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the base URL of the model must be http:// or https:// with a host")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        netloc = host if parts.port is None else f"{host}:{parts.port}"
        plain = urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", ""))
        parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
        return cls(plain, parameters, _authorization(parts.username, parts.password, api_key))


def _authorization(user: str | None, password: str | None, api_key: str | None) -> dict[str, str]:
    if user is not None or password is not None:
        pair = f"{unquote(user or '')}:{unquote(password or '')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}
