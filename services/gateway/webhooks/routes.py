"""/v1/admin/webhooks: add, list, test, rotate, retry and remove webhooks, and what was not accepted."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import AfterValidator, Field

from nuggetstream.files.webhook import SecretRotation, WebhookSubmission
from nuggetstream.views.common import Problem
from nuggetstream.views.signatures import new_secret
from nuggetstream.views.webhooks import (
    AddedWebhook,
    WebhookAction,
    WebhookFailure,
    WebhookTest,
    WebhookView,
)
from services.access.callers import Role
from services.access.visits import VISIT, visible_arenas
from services.gateway.administration import Pace, admin_router
from services.gateway.battles.bodies import json_body, read_json
from services.gateway.errors import InvalidQuery, Unknown
from services.gateway.stream.selection import require_known
from services.gateway.webhooks.sender import NotAccepted, Sender
from services.runtime.masking import masked_url
from services.store.access.webhooks import Waiting, Webhook, Webhooks
from services.store.battles.event_tail import EventTail
from services.store.database import Database
from services.wire.query_parameters import QueryParameters, Text, without_nul

_MAX_BYTES = 64 * 1024
_MOST_LISTED = 1000
_EXAMPLE = {"arena": "mine", "url": "https://arena.example.org/hooks/nuggetstream", "kinds": ["ended"]}
_ROTATION = json_body(SecretRotation, {"overlap_hours": 24}, required=False)
WebhookId = Annotated[str, Path(description="Id of the webhook."), AfterValidator(without_nul)]


class WebhooksQuery(QueryParameters):
    """Which webhooks to list."""

    arena: Text | None = None
    """Only webhooks of this arena."""


class UndeliveredQuery(QueryParameters):
    """How many events to list."""

    limit: Annotated[int, Field(ge=1, le=_MOST_LISTED)] = 50
    """Maximum number of events: those given up, and then those that wait, the newest first."""


@dataclass(frozen=True, slots=True)
class _Administration:
    store: Webhooks
    tail: EventTail
    sender: Sender

    async def add(self, submission: WebhookSubmission) -> AddedWebhook:
        """Store a webhook of an arena of the caller, where events may be sent to its address."""
        visit = VISIT.get()
        if visit is not None:
            visit.caller.require(Role.ADMIN, submission.arena)
            visit.arenas.add(submission.arena)
        if (why := await self.sender.blocked(submission.url)) is not None:
            raise InvalidQuery([f"url: {why}; NUGGETSTREAM_WEBHOOK_ALLOWED_HOSTS exempts receivers"])
        now = datetime.now(UTC)
        webhook = Webhook(
            id=f"wh_{uuid4().hex[:16]}",
            arena=submission.arena,
            url=submission.url,
            secret=new_secret(),
            kinds=list(dict.fromkeys(submission.kinds)),
            tags=list(dict.fromkeys(submission.tags)),
            languages=list(dict.fromkeys(submission.languages)),
            created_at=now,
            cursor=await self.tail.last(),
        )
        await self.store.add(webhook)
        return AddedWebhook(**_view(webhook).model_dump(), secret=webhook.secret)

    async def of_caller(self, webhook_id: str) -> Webhook:
        """A webhook of an arena of the caller; others are as unknown as those that do not exist."""
        webhook, visit = await self.store.get(webhook_id), VISIT.get()
        if webhook is None or (visit is not None and not visit.caller.may(Role.ADMIN, webhook.arena)):
            raise Unknown("webhook", webhook_id)
        if visit is not None:
            visit.arenas.add(webhook.arena)
        return webhook

    async def rotate(self, webhook_id: str, rotation: SecretRotation) -> AddedWebhook:
        """Give a webhook a new secret, which is shown this once."""
        await self.of_caller(webhook_id)
        until = datetime.now(UTC) + timedelta(hours=rotation.overlap_hours)
        webhook = await self.store.rotate(webhook_id, new_secret(), until)
        if webhook is None:
            raise Unknown("webhook", webhook_id)
        return AddedWebhook(**_view(webhook).model_dump(), secret=webhook.secret)

    async def test(self, webhook: Webhook) -> WebhookTest:
        """Send an event of the kind `test`, once."""
        event = {"kind": "test", "arena": webhook.arena, "at": datetime.now(UTC).isoformat()}
        try:
            status = await self.sender.send(webhook, f"test-{uuid4().hex}", json.dumps(event).encode())
        except NotAccepted as error:
            return WebhookTest(accepted=False, detail=str(error))
        return WebhookTest(accepted=True, detail=f"the receiver answers {status}")


def routes(database: Database, sender: Sender, pace: Pace | None = None) -> APIRouter:
    """The routes of webhooks."""
    router, store = admin_router("/v1/admin/webhooks"), Webhooks(database)
    administration = _Administration(store, EventTail(database), sender)

    @router.get("", summary="Webhooks, the oldest first")
    async def select(query: Annotated[WebhooksQuery, Query()]) -> list[WebhookView]:
        return [_view(webhook) for webhook in await store.all(visible_arenas(query.arena))]

    @router.post(
        "",
        summary="Add a webhook",
        status_code=201,
        openapi_extra=json_body(WebhookSubmission, _EXAMPLE),
    )
    async def add(request: Request) -> AddedWebhook:
        """Events that are recorded from now on are sent. The secret is in this reply alone."""
        submission = await read_json(request, WebhookSubmission, _MAX_BYTES)
        require_known(submission.kinds)
        return await administration.add(submission)

    @router.delete("/{webhook_id}", summary="Remove a webhook", responses={**_UNKNOWN})
    async def remove(webhook_id: WebhookId) -> WebhookAction:
        await administration.of_caller(webhook_id)
        await store.remove(webhook_id)
        return WebhookAction(id=webhook_id, result="removed")

    _routes_of_one(router, administration, store, pace or Pace())
    return router


def _routes_of_one(router: APIRouter, administration: _Administration, store: Webhooks, pace: Pace) -> None:
    @router.post(
        "/{webhook_id}/rotate",
        summary="Replace the secret of a webhook",
        responses={**_UNKNOWN},
        openapi_extra=_ROTATION,
    )
    async def rotate(webhook_id: WebhookId, request: Request) -> AddedWebhook:
        """The new secret is in this reply alone. Until the overlap ends, both secrets sign events."""
        rotation = await read_json(request, SecretRotation, _MAX_BYTES)
        return await administration.rotate(webhook_id, rotation)

    @router.post(
        "/{webhook_id}/test",
        summary="Send an event of the kind `test`",
        dependencies=[Depends(pace)],
        responses={**_UNKNOWN},
    )
    async def test(webhook_id: WebhookId) -> WebhookTest:
        """It is sent once, also where the webhook is switched off, and changes nothing."""
        return await administration.test(await administration.of_caller(webhook_id))

    @router.post("/{webhook_id}/retry", summary="Send again what was not accepted", responses={**_UNKNOWN})
    async def retry(webhook_id: WebhookId) -> WebhookAction:
        """Switches the webhook on, too. What was never sent follows from where it stopped."""
        await administration.of_caller(webhook_id)
        events = await store.retry(webhook_id, datetime.now(UTC))
        if events is None:
            raise Unknown("webhook", webhook_id)
        return WebhookAction(id=webhook_id, result="retried", events=events)

    @router.get("/{webhook_id}/failures", summary="Events that were not accepted", responses={**_UNKNOWN})
    async def failures(
        webhook_id: WebhookId, query: Annotated[UndeliveredQuery, Query()]
    ) -> list[WebhookFailure]:
        await administration.of_caller(webhook_id)
        return [_failure(waiting) for waiting in await store.undelivered(webhook_id, query.limit)]


_UNKNOWN: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "There is no webhook with this id."}
}


def _view(webhook: Webhook) -> WebhookView:
    return WebhookView.showing(webhook, url=masked_url(webhook.url))


def _failure(waiting: Waiting) -> WebhookFailure:
    return WebhookFailure.showing(waiting, number=waiting.sequence)
