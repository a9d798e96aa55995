"""The settings of the scraper that are environment variables."""

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.cli.wiring.names import Names

if TYPE_CHECKING:
    from services.scraper.settings import ScraperSettings


class FetchSettings(BaseSettings):
    """The scraper settings that operators change most; the others have safe defaults.

    Attributes:
        scraper_user_agent: Sent with every request; add a contact address.
        scraper_allowed_hosts: Hosts exempt from the address guard, as "host:port" separated by commas; there
            is no pause between requests to them.
        scraper_archive_dir: Folder in which raw responses are archived as WARC files.
        scraper_render_url: Chromium that renders pages whose text only scripts show, such as
            `http://chromium:9222` or `ws://…`; unset, such pages have no text.
    """

    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)

    scraper_user_agent: str | None = None
    scraper_allowed_hosts: Names = ()
    scraper_archive_dir: Path | None = None
    scraper_render_url: str | None = Field(None, pattern=r"^(https?|wss?)://")

    def scraper(self) -> "ScraperSettings":
        """The scraper's settings."""
        from services.scraper.settings import ScraperSettings

        given = {
            "user_agent": self.scraper_user_agent,
            "archive_dir": self.scraper_archive_dir,
            "render_url": self.scraper_render_url,
            "allowed_hosts": self.scraper_allowed_hosts,
        }
        return ScraperSettings(**{name: value for name, value in given.items() if value is not None})
