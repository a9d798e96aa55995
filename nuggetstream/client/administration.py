"""What administrators ask of a platform; the header `authorization` of the client has their key."""

import json
from collections.abc import Mapping
from typing import Any, Literal, Unpack
from urllib.parse import quote

from nuggetstream.client.calls import Call, path_of
from nuggetstream.client.options import (
    AdminFailureOptions,
    ExpiryOptions,
    RerunOptions,
    StartOptions,
    params_of,
)
from nuggetstream.client.replies import reader
from nuggetstream.client.requests import request
from nuggetstream.domain.nugget_edit import RecordedEdit
from nuggetstream.files.nugget_edit import NuggetEditSubmission
from nuggetstream.views.audit import AuditView
from nuggetstream.views.calls import CallView
from nuggetstream.views.deletion import BattleDeletion, Expiry
from nuggetstream.views.failures import FailureAction, FailureEntry
from nuggetstream.views.reruns import RerunView

_FAILURES = "/v1/admin/failures"
_BATTLES = "/v1/admin/battles"


class Administration:
    """Requests of administrators."""

    @request
    def admin_failures(self, **options: Unpack[AdminFailureOptions]) -> Call[list[FailureEntry]]:
        """Everything given up, for administrators, see `AdminFailureOptions`."""
        params = params_of(options)
        return Call(method="GET", path=_FAILURES, read=reader(list[FailureEntry]), params=params)

    @request
    def admin_failure(self, failure_id: str) -> Call[FailureEntry]:
        """One failure, for administrators."""
        return Call(method="GET", path=f"{_FAILURES}/{quote(failure_id, safe='')}", read=reader(FailureEntry))

    @request
    def act_on_failure(self, failure_id: str, action: Literal["retry", "discard"]) -> Call[FailureAction]:
        """Retry or discard a failure, as an administrator; twice is once."""
        path = f"{_FAILURES}/{quote(failure_id, safe='')}/{action}"
        return Call(method="POST", path=path, read=reader(FailureAction))

    @request
    def model_calls(self, battle_id: str) -> Call[list[CallView]]:
        """The logged model calls of a battle, with prompts and replies, in the order in which they began.

        Raises:
            NotFound: There is no such battle.
        """
        return Call(method="GET", path=f"{path_of(battle_id)}/calls", read=reader(list[CallView]))

    @request
    def audit(
        self, arena: str | None = None, key: str | None = None, limit: int = 50
    ) -> Call[list[AuditView]]:
        """Who did what, newest first, for administrators.

        Args:
            arena: Only actions in this arena; None for all that the key may read.
            key: Only actions of the key with this id; None for all.
            limit: At most so many, 1 to 1000.
        """
        params = params_of({"arena": arena, "key": key, "limit": limit})
        return Call(method="GET", path="/v1/admin/audit", read=reader(list[AuditView]), params=params)

    @request
    def delete_battle(self, battle_id: str) -> Call[BattleDeletion]:
        """Delete a battle with everything that only it brought; deleting it twice changes nothing.

        Raises:
            NotFound: There is no such battle, and there never was.
            Conflict: It is still running.
        """
        return Call(method="DELETE", path=f"{_BATTLES}/{quote(battle_id)}", read=reader(BattleDeletion))

    @request
    def edit_nuggets(
        self, battle_id: str, edit: NuggetEditSubmission | Mapping[str, Any]
    ) -> Call[RecordedEdit]:
        """Edit the nugget list of a battle that has ended; only labels of new texts are asked for.

        The same edit sent twice is one edit.

        Args:
            battle_id: The battle.
            edit: `version` (the battle's `nugget_version`), `author`, `reason` and `operations`.

        Raises:
            NotFound: There is no such battle.
            Conflict: The edit is based on an older version, the battle is running, or it has no list.
            Invalid: An operation cannot be made.
        """
        body = edit.model_dump_json() if isinstance(edit, NuggetEditSubmission) else json.dumps(edit)
        path = f"{path_of(battle_id)}/nuggets"
        return Call(method="PATCH", path=path, read=reader(RecordedEdit), body=body.encode())

    @request
    def delete_expired(self, **options: Unpack[ExpiryOptions]) -> Call[Expiry]:
        """Delete a batch of the oldest battles, see `ExpiryOptions`; again for the next batch."""
        return Call(
            method="POST",
            path=f"{_BATTLES}/delete-expired",
            read=reader(Expiry),
            params=params_of(options),
            waiting=60.0,
        )

    @request
    def rerun(self, **options: Unpack[StartOptions]) -> Call[RerunView]:
        """Evaluate a part of old battles again, see `StartOptions`; twice is once."""
        path, params = f"{_BATTLES}/rerun", params_of(options)
        return Call(method="POST", path=path, read=reader(RerunView), params=params, waiting=60.0)

    @request
    def compared_rerun(self, **options: Unpack[RerunOptions]) -> Call[RerunView]:
        """Compare a part of a rerun with the results before, see `RerunOptions`."""
        path, params = f"{_BATTLES}/rerun", params_of(options)
        return Call(method="GET", path=path, read=reader(RerunView), params=params, waiting=60.0)
