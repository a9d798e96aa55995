"""PATCH /v1/battles/{id}/nuggets."""

from typing import Any

from fastapi import APIRouter, Depends, Request

from nuggetstream.domain.nugget_edit import RecordedEdit
from nuggetstream.files.nugget_edit import NuggetEditSubmission
from nuggetstream.views.common import Problem
from services.gateway.administration import FORBIDDEN
from services.gateway.battles.bodies import json_body, read_json
from services.gateway.battles.query import BattleId
from services.gateway.edits.editor import Editor
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters

MAX_EDIT_BYTES = 1024 * 1024
_EXAMPLE = {
    "version": 1,
    "author": "Ada",
    "reason": "The year was wrong.",
    "operations": [{"op": "reword", "nugget": "5f0c…", "text": "The treaty was signed in 1990."}],
}


def routes(editor: Editor) -> APIRouter:
    """The route that edits nugget lists."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(reject_unknown_parameters)])
    outdated = "The edit is based on an older version, the battle still runs, or it has no nugget list."
    responses: dict[int | str, dict[str, Any]] = {
        **FORBIDDEN,
        409: {"model": Problem, "description": outdated},
        **{status: RESPONSES[status] for status in (404, 413, 415, 422, 503)},
    }

    @router.patch(
        "/battles/{battle_id:path}/nuggets",
        summary="Edit the nugget list of a battle",
        status_code=202,
        tags=["battles"],
        responses=responses,
        openapi_extra=json_body(NuggetEditSubmission, _EXAMPLE),
    )
    async def edit(battle_id: BattleId, request: Request) -> RecordedEdit:
        """The new list is labelled, and scores, preference and boards follow. Labels of nuggets whose text
        stays are kept. The same edit sent again is the same edit."""
        submission = await read_json(request, NuggetEditSubmission, MAX_EDIT_BYTES)
        return await editor.edit(battle_id, submission.to_core())

    return router
