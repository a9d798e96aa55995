"""Settings of access: who needs a key, and which proxies and other sites are trusted."""

from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from services.access.sites import Network, Sites, origins_of
from services.cli.wiring.names import LISTED, Names

_NETWORKS = BeforeValidator(lambda names: tuple(map(ip_network, names)))


class AccessSettings(BaseSettings):
    """Who may use the gateway and the rater; see docs/access.md. Lists are separated by commas.

    Attributes:
        open_access: Whether everybody who reaches the platform may use it without a key, administration
            excepted. Without it, an address that other machines can reach needs keys.
        trusted_proxies: Addresses or networks of proxies whose headers count.
        proxy_user_header: Header in which they name the user whom they have authenticated.
        cors_origins: Origins whose pages may use the API.
        frame_ancestors: Origins whose pages may show our pages in a frame.
        webhook_allowed_hosts: Receivers of webhooks that are exempt from the address guard, as "host:port".
    """

    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)

    open_access: bool = False
    trusted_proxies: Annotated[tuple[Network, ...], NoDecode, _NETWORKS, LISTED] = ()
    proxy_user_header: str | None = None
    cors_origins: Annotated[Names, AfterValidator(origins_of)] = ()
    frame_ancestors: Annotated[Names, AfterValidator(origins_of)] = ()
    webhook_allowed_hosts: Names = ()

    @property
    def sites(self) -> Sites:
        """The allowed sites."""
        return Sites(self.cors_origins, self.frame_ancestors)
