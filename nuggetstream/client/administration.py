"""What administrators ask of a platform: the part of both clients that needs their token."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Unpack

from nuggetstream.client import calls
from nuggetstream.client.audit import audit
from nuggetstream.client.calls import Call
from nuggetstream.client.options import AdminFailureOptions, ExpiryOptions
from nuggetstream.files.nugget_edit import NuggetEditSubmission
from nuggetstream.views.audit import AuditView
from nuggetstream.views.calls import CallView
from nuggetstream.views.deletion import BattleDeletion, Expiry
from nuggetstream.views.failures import FailureAction, FailureEntry
from nuggetstream.views.nuggets import NuggetEditView

T = TypeVar("T")


class Administration(ABC):
    """Requests of administrators. The header `authorization` of the client has the token, if there is one."""

    @abstractmethod
    def _ask(self, call: Call[T]) -> T: ...

    def admin_failures(self, **options: Unpack[AdminFailureOptions]) -> list[FailureEntry]:
        """Everything given up, for administrators, see `AdminFailureOptions`."""
        return self._ask(calls.admin_failures(options))

    def admin_failure(self, failure_id: str) -> FailureEntry:
        """One failure, for administrators."""
        return self._ask(calls.admin_failure(failure_id))

    def act_on_failure(self, failure_id: str, action: Literal["retry", "discard"]) -> FailureAction:
        """Retry or discard a failure, as an administrator; twice is once."""
        return self._ask(calls.act_on_failure(failure_id, action))

    def model_calls(self, battle_id: str) -> list[CallView]:
        """The logged model calls of a battle, with prompts and replies, in the order in which they began.

        Raises:
            NotFound: There is no such battle.
        """
        return self._ask(calls.model_calls(battle_id))

    def audit(self, arena: str | None = None, key: str | None = None, limit: int = 50) -> list[AuditView]:
        """Who did what, newest first, for administrators.

        Args:
            arena: Only actions in this arena; None for all that the key may read.
            key: Only actions of the key with this id; None for all.
            limit: At most so many, 1 to 1000.
        """
        return self._ask(audit(arena, key, limit))

    def delete_battle(self, battle_id: str) -> BattleDeletion:
        """Delete a battle with everything that only it brought; deleting it twice changes nothing.

        Raises:
            NotFound: There is no such battle, and there never was.
            Conflict: It is still running.
        """
        return self._ask(calls.delete_battle(battle_id))

    def edit_nuggets(self, battle_id: str, edit: NuggetEditSubmission | Mapping[str, Any]) -> NuggetEditView:
        """Edit the nugget list of a battle that has ended; only labels of new texts are asked for.

        Args:
            battle_id: The battle.
            edit: `version` (the battle's `nugget_version`), `author`, `reason` and `operations`.

        Raises:
            NotFound: There is no such battle.
            Conflict: The edit is based on an older version, the battle is running, or it has no list.
            Invalid: An operation cannot be made.
        """
        return self._ask(calls.edit_nuggets(battle_id, edit))

    def delete_expired(self, **options: Unpack[ExpiryOptions]) -> Expiry:
        """Delete a batch of the oldest battles, see `ExpiryOptions`."""
        return self._ask(calls.delete_expired(options))


class AsyncAdministration(ABC):
    """Requests of administrators, see `Administration`."""

    @abstractmethod
    async def _ask(self, call: Call[T]) -> T: ...

    async def admin_failures(self, **options: Unpack[AdminFailureOptions]) -> list[FailureEntry]:
        """Everything given up, for administrators."""
        return await self._ask(calls.admin_failures(options))

    async def admin_failure(self, failure_id: str) -> FailureEntry:
        """One failure, for administrators."""
        return await self._ask(calls.admin_failure(failure_id))

    async def act_on_failure(self, failure_id: str, action: Literal["retry", "discard"]) -> FailureAction:
        """Retry or discard a failure, as an administrator; twice is once."""
        return await self._ask(calls.act_on_failure(failure_id, action))

    async def model_calls(self, battle_id: str) -> list[CallView]:
        """The logged model calls of a battle, see `Client.model_calls`."""
        return await self._ask(calls.model_calls(battle_id))

    async def audit(
        self, arena: str | None = None, key: str | None = None, limit: int = 50
    ) -> list[AuditView]:
        """Who did what, newest first, see `Client.audit`."""
        return await self._ask(audit(arena, key, limit))

    async def delete_battle(self, battle_id: str) -> BattleDeletion:
        """Delete a battle with everything that only it brought, see `Client.delete_battle`."""
        return await self._ask(calls.delete_battle(battle_id))

    async def edit_nuggets(
        self, battle_id: str, edit: NuggetEditSubmission | Mapping[str, Any]
    ) -> NuggetEditView:
        """Edit the nugget list of a battle that has ended, see `Client.edit_nuggets`."""
        return await self._ask(calls.edit_nuggets(battle_id, edit))

    async def delete_expired(self, **options: Unpack[ExpiryOptions]) -> Expiry:
        """Delete a batch of the oldest battles, see `ExpiryOptions`."""
        return await self._ask(calls.delete_expired(options))
