"""POST /battles/{id}/nuggets: the form on the page of a battle, which works without a script.

    the fields of all nuggets  ->  operations for what differs from the list  ->  an edit

Only a page of this gateway can send it: the check of `Origin` (`hosts`) rejects forms of other sites.
"""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from nuggetstream.domain.nugget import Assignment, Importance, Nugget
from nuggetstream.files.nugget_edit import NuggetEditSubmission
from services.gateway.access.guard import Access
from services.gateway.battles.bodies import read_form
from services.gateway.edits.editor import Editor, correctable
from services.gateway.edits.routes import MAX_EDIT_BYTES
from services.gateway.errors import InvalidQuery, OutdatedVersion
from services.gateway.query import reporting_problems

_KEEP, _DELETE, _INTO = "keep", "delete", "into "


def routes(editor: Editor, access: Access) -> APIRouter:
    """The route of the form."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.post("/battles/{battle_id:path}/nuggets")
    async def edit(battle_id: str, request: Request) -> Response:
        fields = await read_form(request, MAX_EDIT_BYTES)
        access.check_form(request, fields)
        current = await editor.current(battle_id)
        listed, labels = current.nugget_list, correctable(current)
        if fields.get("version") != str(listed.version):
            raise OutdatedVersion(battle_id, _number(fields.get("version")), listed.version)
        await editor.edit(battle_id, submission_of(fields, listed.nuggets, labels).to_core())
        return RedirectResponse(f"/battles/{quote(battle_id)}#nuggets", 303)

    return router


def submission_of(
    fields: Mapping[str, str], nuggets: Sequence[Nugget], labels: Sequence[Assignment]
) -> NuggetEditSubmission:
    """The edit that a form asks for.

    Args:
        fields: `author`, `reason` and `version`; for each nugget `text ID`, `importance ID`, `label a ID`,
            `label b ID` and `do ID`, which is "keep", "delete" or "into ID"; `new text`, which may be empty,
            and `new importance`.
        nuggets: The list that the form showed.
        labels: The labels that it showed.

    Raises:
        InvalidQuery: A field is missing or wrong, or nothing differs from the list.
    """
    operations = [*_corrections(fields, labels), *_operations(fields, nuggets)]
    if not operations:
        raise InvalidQuery(["operations: nothing was changed"])
    edit = {name: fields.get(name) for name in ("version", "author", "reason")}
    with reporting_problems():
        return NuggetEditSubmission.model_validate(edit | {"operations": operations})


def _corrections(fields: Mapping[str, str], labels: Sequence[Assignment]) -> Iterator[dict[str, object]]:
    for label in labels:
        name, side = label.nugget_id, label.side.value
        chosen = fields.get(f"label {side} {name}", label.support.value)
        if chosen != label.support.value and fields.get(f"do {name}", _KEEP) == _KEEP:
            yield {"op": "label", "nugget": name, "answer": side, "to": chosen}


def _operations(fields: Mapping[str, str], nuggets: Sequence[Nugget]) -> Iterator[dict[str, object]]:
    """Changed texts and importance first, then merges and deletions, then what is new."""
    for nugget in nuggets:
        action = fields.get(f"do {nugget.id}", _KEEP)
        if action != _KEEP:  # what is left out needs no other change
            continue
        text, importance = fields.get(f"text {nugget.id}"), fields.get(f"importance {nugget.id}")
        if text is not None and _line(text) != _line(nugget.text):
            yield {"op": "reword", "nugget": nugget.id, "text": text}
        if importance is not None and importance != nugget.importance.value:
            yield {"op": "importance", "nugget": nugget.id, "importance": importance}
    merged: dict[str, list[str]] = {}
    for nugget in nuggets:
        action = fields.get(f"do {nugget.id}", _KEEP)
        if action.startswith(_INTO):
            merged.setdefault(action.removeprefix(_INTO), []).append(nugget.id)
        elif action == _DELETE:
            yield {"op": "delete", "nugget": nugget.id}
    for into, others in merged.items():
        yield {"op": "merge", "nuggets": [into, *others]}
    if _line(new := fields.get("new text", "")):
        importance = fields.get("new importance", Importance.OKAY.value)
        yield {"op": "add", "text": new, "importance": importance}


def _line(text: str) -> str:
    return " ".join(text.split())


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0
