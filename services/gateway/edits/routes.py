"""PATCH /v1/battles/{id}/nuggets."""

from typing import Any

from fastapi import APIRouter, Depends, Request
from pydantic import ValidationError

from nuggetstream.domain.nugget_edit import RecordedEdit
from nuggetstream.files.nugget_edit import NuggetEditSubmission
from nuggetstream.views.common import Problem
from services.gateway.administration import FORBIDDEN
from services.gateway.battles.bodies import JSON, declared_type, read_all
from services.gateway.battles.query import BattleId
from services.gateway.edits.editor import Editor
from services.gateway.errors import InvalidQuery
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters
from services.wire.query_parameters import problems_in

MAX_EDIT_BYTES = 1024 * 1024
SCHEMAS: dict[str, Any] = NuggetEditSubmission.model_json_schema(ref_template="#/components/schemas/{model}")
SCHEMAS = SCHEMAS.pop("$defs") | {"NuggetEditSubmission": SCHEMAS}
"""Schemas of the request body, see `submission_routes.SCHEMAS`."""
_EXAMPLE = {
    "version": 1,
    "author": "Ada",
    "reason": "The year was wrong.",
    "operations": [{"op": "reword", "nugget": "5f0c…", "text": "The treaty was signed in 1990."}],
}
_BODY = {
    "required": True,
    "content": {JSON: {"schema": {"$ref": "#/components/schemas/NuggetEditSubmission"}, "example": _EXAMPLE}},
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
        openapi_extra={"requestBody": _BODY},
    )
    async def edit(battle_id: BattleId, request: Request) -> RecordedEdit:
        """The new list is labelled, and scores, preference and boards follow. Labels of nuggets whose text
        stays are kept. The same edit sent again is the same edit."""
        declared_type(request.headers, JSON)
        submission = _edit_in(await read_all(request.stream(), MAX_EDIT_BYTES))
        return await editor.edit(battle_id, submission.to_core())

    return router


def _edit_in(body: bytes) -> NuggetEditSubmission:
    try:
        return NuggetEditSubmission.model_validate_json(body)
    except ValidationError as error:
        raise InvalidQuery(problems_in(error.errors(include_url=False, include_input=False))) from None
