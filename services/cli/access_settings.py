"""Settings of access: who needs a key, and which proxies and other sites are trusted."""

from pydantic import field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.access.sites import Network, Sites, networks_of, origins_of
from services.cli.names import names_of


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
    trusted_proxies: str = ""
    proxy_user_header: str | None = None
    cors_origins: str = ""
    frame_ancestors: str = ""
    webhook_allowed_hosts: str = ""

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, networks: str) -> str:
        networks_of(networks.split(","))
        return networks

    @field_validator("cors_origins", "frame_ancestors")
    @classmethod
    def _are_origins(cls, origins: str) -> str:
        origins_of(origins.split(","))
        return origins

    @property
    def proxy_networks(self) -> tuple[Network, ...]:
        """The networks of trusted proxies."""
        return networks_of(self.trusted_proxies.split(","))

    @property
    def sites(self) -> Sites:
        """The allowed sites."""
        return Sites.of(self.cors_origins.split(","), self.frame_ancestors.split(","))

    @property
    def webhook_hosts(self) -> tuple[str, ...]:
        """The receivers of webhooks that are exempt from the address guard."""
        return names_of(self.webhook_allowed_hosts)
