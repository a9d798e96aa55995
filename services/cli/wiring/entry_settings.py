"""Settings of what is evaluated among the battles that are sent."""

from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.cli.wiring.names import Names

if TYPE_CHECKING:
    from services.gateway.battles.entry_filter import EntryFilter


class EntrySettings(BaseSettings):
    """Which battles the gateway accepts for evaluation.

    Attributes:
        accept_share: Share of the battles, in [0, 1], chosen by their ids.
        accept_arenas: Arenas of the battles, separated by commas; empty for all.
    """

    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)

    accept_share: float = Field(1.0, ge=0, le=1)
    accept_arenas: Names = ()

    @property
    def filter(self) -> "EntryFilter":
        """The filter of the gateway."""
        from services.gateway.battles.entry_filter import EntryFilter

        return EntryFilter(self.accept_share, frozenset(self.accept_arenas))
