"""The URL of a model's endpoint, whose credentials are sent as the endpoint expects them."""

import base64
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

# In the path of a deployment of an Azure resource, which reads its key from a header of its own:
# https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT?api-version=VERSION
_DEPLOYMENTS = "/openai/deployments/"
_AZURE_KEY = "api-key"


@dataclass(frozen=True, slots=True)
class EndpointAddress:
    """An endpoint.

    Attributes:
        url: Base URL without credentials and parameters.
        parameters: Query parameters, such as `api-version`, which every request carries.
        headers: Headers of every request: Basic authorization where the URL has a user or a password, which
            takes the place of an API key, because a request has one Authorization header; `api-key` for a
            deployment of an Azure resource.
    """

    url: str
    parameters: dict[str, str]
    headers: dict[str, str]

    @classmethod
    def of(cls, url: str, api_key: str | None) -> "EndpointAddress":
        """The address that an operator configured.

        Raises:
            ValueError: The URL has no host, its port is not a number, or it is that of a deployment and names
                no version of the API.
        """
        parts = urlsplit(url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the base URL of the model must be http:// or https:// with a host")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        netloc = host if parts.port is None else f"{host}:{parts.port}"
        plain = urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", ""))
        parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
        if api_key and _DEPLOYMENTS in parts.path and parts.username is None and parts.password is None:
            if not parameters.get("api-version"):
                raise ValueError("the base URL of a deployment must end with ?api-version=VERSION")
            return cls(plain, parameters, {_AZURE_KEY: api_key})
        return cls(plain, parameters, _authorization(parts.username, parts.password, api_key))

    @property
    def is_deployment(self) -> bool:
        """Whether it is a deployment of an Azure resource that reads its key from the header `api-key`."""
        return _AZURE_KEY in self.headers

    @property
    def models_url(self) -> str:
        """URL that lists the models; that of the resource where the endpoint is a deployment."""
        resource, deployment, _ = self.url.partition("/deployments/")
        return f"{resource if deployment else self.url}/models"


def _authorization(user: str | None, password: str | None, api_key: str | None) -> dict[str, str]:
    if user is not None or password is not None:
        pair = f"{unquote(user or '')}:{unquote(password or '')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}
