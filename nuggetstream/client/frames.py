"""Tokens for frames: how the server of an arena lets one battle be shown, and voted on, in a web page."""

import json
from abc import ABC, abstractmethod
from typing import Any, TypeVar

from nuggetstream.client.calls import Call, battle
from nuggetstream.client.replies import reader
from nuggetstream.views.embedding import EmbedToken

T = TypeVar("T")


def embed_token(battle_id: str, minutes: int, *, vote: bool) -> Call[EmbedToken]:
    """Make a token for a frame; each request makes another one."""
    body = json.dumps({"vote": vote, "minutes": minutes}).encode()
    path = f"{battle(battle_id).path}/embed-token"
    return Call(method="POST", path=path, read=reader(EmbedToken), body=body)


class Frames(ABC):
    """Tokens for frames."""

    @abstractmethod
    def _ask(self, call: Call[T]) -> T: ...

    def embed_token(self, battle_id: str, minutes: int = 60, *, vote: bool = False) -> EmbedToken:
        """Make a token with which a web page shows one battle in a frame.

        Args:
            battle_id: The battle.
            minutes: Minutes until it expires, 1 to 1440.
            vote: Whether the frame has buttons to vote; the key needs the role "vote".

        Raises:
            NotFound: There is no such battle.
            Forbidden: The key has no right to this.
        """
        return self._ask(embed_token(battle_id, minutes, vote=vote))


class AsyncFrames(ABC):
    """Tokens for frames, see `Frames`."""

    @abstractmethod
    async def _ask(self, call: Call[Any]) -> Any: ...

    async def embed_token(self, battle_id: str, minutes: int = 60, *, vote: bool = False) -> EmbedToken:
        """Make a token with which a web page shows one battle in a frame, see `Client.embed_token`."""
        token: EmbedToken = await self._ask(embed_token(battle_id, minutes, vote=vote))
        return token
