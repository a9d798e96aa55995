"""Settings of what is evaluated among the battles that are sent."""

from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.cli.wiring.names import Names

if TYPE_CHECKING:
    from services.gateway.battles.entry_filter import EntryFilter


class EntrySettings(BaseSettings):
    """Which battles the gateway accepts for evaluation. Lists are separated by commas; empty ones select all.

    Attributes:
        accept_share: Share of the battles, in [0, 1], chosen by their ids.
        accept_arenas: Arenas of the battles.
        accept_tags: Tags of which a battle has one.
        accept_languages: Language tags, declared or detected.
    """

    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)

    accept_share: float = Field(1.0, ge=0, le=1)
    accept_arenas: Names = ()
    accept_tags: Names = ()
    accept_languages: Names = ()

    @property
    def filter(self) -> "EntryFilter":
        """The filter of the gateway."""
        from services.gateway.battles.entry_filter import EntryFilter

        return EntryFilter(
            share=self.accept_share,
            arenas=frozenset(self.accept_arenas),
            tags=frozenset(self.accept_tags),
            languages=frozenset(self.accept_languages),
        )
