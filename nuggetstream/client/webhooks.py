"""Webhooks: what administrators ask of a platform about them, and what a receiver does with what arrives."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from nuggetstream.client.calls import Call
from nuggetstream.client.options import params_of
from nuggetstream.client.replies import reader
from nuggetstream.views.events import EVENTS, KINDS, AnyEvent
from nuggetstream.views.signatures import verify
from nuggetstream.views.webhooks import (
    AddedWebhook,
    WebhookAction,
    WebhookFailure,
    WebhookTest,
    WebhookView,
)

T = TypeVar("T")
_PATH = "/v1/admin/webhooks"


def webhook_event(
    secret: str, headers: Mapping[str, str], body: bytes, now: datetime | None = None
) -> AnyEvent | None:
    """The event that a request of a webhook has, after its signature was checked.

    Args:
        secret: The secret that was shown when the webhook was added.
        headers: The headers of the request. `webhook-id` names the event, also when it arrives again.
        body: The body as it arrived, not parsed.
        now: The time; that of the clock when None.

    Returns:
        The event; None for kinds that this version does not know, such as `test`, which are to be accepted.

    Raises:
        InvalidSignature: It was not signed with the secret, or more than five minutes ago.
        ValueError: The body is no event, or the secret is none.
    """
    verify(secret, headers, body, now)
    known = json.loads(body).get("kind") in KINDS
    return EVENTS.validate_json(body) if known else None


def add(url: str, arena: str, **filters: Sequence[str]) -> Call[AddedWebhook]:
    """Add a webhook; each request adds another one."""
    body = {"url": url, "arena": arena} | {name: list(values) for name, values in filters.items()}
    return Call(
        method="POST",
        path=_PATH,
        read=reader(AddedWebhook),
        body=json.dumps(body).encode(),
        repeatable=False,
    )


def listed(arena: str | None) -> Call[list[WebhookView]]:
    """List webhooks."""
    return Call(method="GET", path=_PATH, read=reader(list[WebhookView]), params=params_of({"arena": arena}))


def removed(webhook_id: str) -> Call[WebhookAction]:
    """Remove a webhook."""
    return Call(method="DELETE", path=_of(webhook_id), read=reader(WebhookAction))


def rotated(webhook_id: str, overlap_hours: float) -> Call[AddedWebhook]:
    """Replace the secret; each request makes another one."""
    return Call(
        method="POST",
        path=f"{_of(webhook_id)}/rotate",
        read=reader(AddedWebhook),
        body=json.dumps({"overlap_hours": overlap_hours}).encode(),
        repeatable=False,
    )


def sent_test(webhook_id: str) -> Call[WebhookTest]:
    """Send an event of the kind `test`."""
    return Call(method="POST", path=f"{_of(webhook_id)}/test", read=reader(WebhookTest))


def retried(webhook_id: str) -> Call[WebhookAction]:
    """Send again what was not accepted."""
    return Call(method="POST", path=f"{_of(webhook_id)}/retry", read=reader(WebhookAction))


def undelivered(webhook_id: str, limit: int) -> Call[list[WebhookFailure]]:
    """List what was not accepted."""
    path, params = f"{_of(webhook_id)}/failures", params_of({"limit": limit})
    return Call(method="GET", path=path, read=reader(list[WebhookFailure]), params=params)


def _of(webhook_id: str) -> str:
    return f"{_PATH}/{quote(webhook_id, safe='')}"


class WebhookDesk(ABC):
    """Webhooks, for administrators."""

    @abstractmethod
    def _ask(self, call: Call[T]) -> T: ...

    def add_webhook(
        self,
        url: str,
        arena: str = "default",
        *,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        languages: Sequence[str] = (),
    ) -> AddedWebhook:
        """Add a webhook; events that are recorded from now on are sent.

        Args:
            url: Where they are sent.
            arena: Arena of the battles.
            kinds: Kinds of events; all when empty.
            tags: Tags of which a battle has one; all battles when empty.
            languages: Language tags, declared or detected; all battles when empty.

        Returns:
            The webhook with its secret, which is not shown again.

        Raises:
            Invalid: The address or a kind is none.
            Forbidden: The key has no right to this.
        """
        return self._ask(add(url, arena, kinds=kinds, tags=tags, languages=languages))

    def webhooks(self, arena: str | None = None) -> list[WebhookView]:
        """The webhooks of an arena, or of all that the key administrates."""
        return self._ask(listed(arena))

    def remove_webhook(self, webhook_id: str) -> WebhookAction:
        """Remove a webhook, with what waits for it.

        Raises:
            NotFound: There is no such webhook.
        """
        return self._ask(removed(webhook_id))

    def rotate_webhook(self, webhook_id: str, overlap_hours: float = 24.0) -> AddedWebhook:
        """Replace the secret of a webhook.

        Args:
            webhook_id: The webhook.
            overlap_hours: Hours for which events have the signatures of both secrets, at most 720. A receiver
                takes the new secret within this time. 0 ends the old secret at once.

        Returns:
            The webhook with its new secret, which is not shown again.

        Raises:
            NotFound: There is no such webhook.
            Invalid: The overlap is negative or longer than 30 days.
        """
        return self._ask(rotated(webhook_id, overlap_hours))

    def test_webhook(self, webhook_id: str) -> WebhookTest:
        """Send an event of the kind `test` to a receiver, once.

        Raises:
            NotFound: There is no such webhook.
        """
        return self._ask(sent_test(webhook_id))

    def retry_webhook(self, webhook_id: str) -> WebhookAction:
        """Switch a webhook on, and send again what its receiver has not accepted.

        Raises:
            NotFound: There is no such webhook.
        """
        return self._ask(retried(webhook_id))

    def webhook_failures(self, webhook_id: str, limit: int = 50) -> list[WebhookFailure]:
        """What a receiver has not accepted: first what was given up, then what waits, the newest first.

        Raises:
            NotFound: There is no such webhook.
        """
        return self._ask(undelivered(webhook_id, limit))


class AsyncWebhookDesk(ABC):
    """Webhooks, for administrators, see `WebhookDesk`."""

    @abstractmethod
    async def _ask(self, call: Call[Any]) -> Any: ...

    async def add_webhook(
        self,
        url: str,
        arena: str = "default",
        *,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        languages: Sequence[str] = (),
    ) -> AddedWebhook:
        """Add a webhook, see `Client.add_webhook`."""
        added: AddedWebhook = await self._ask(add(url, arena, kinds=kinds, tags=tags, languages=languages))
        return added

    async def webhooks(self, arena: str | None = None) -> list[WebhookView]:
        """The webhooks of an arena, or of all that the key administrates."""
        webhooks: list[WebhookView] = await self._ask(listed(arena))
        return webhooks

    async def remove_webhook(self, webhook_id: str) -> WebhookAction:
        """Remove a webhook, see `Client.remove_webhook`."""
        action: WebhookAction = await self._ask(removed(webhook_id))
        return action

    async def rotate_webhook(self, webhook_id: str, overlap_hours: float = 24.0) -> AddedWebhook:
        """Replace the secret of a webhook, see `Client.rotate_webhook`."""
        webhook: AddedWebhook = await self._ask(rotated(webhook_id, overlap_hours))
        return webhook

    async def test_webhook(self, webhook_id: str) -> WebhookTest:
        """Send an event of the kind `test`, see `Client.test_webhook`."""
        result: WebhookTest = await self._ask(sent_test(webhook_id))
        return result

    async def retry_webhook(self, webhook_id: str) -> WebhookAction:
        """Send again what was not accepted, see `Client.retry_webhook`."""
        action: WebhookAction = await self._ask(retried(webhook_id))
        return action

    async def webhook_failures(self, webhook_id: str, limit: int = 50) -> list[WebhookFailure]:
        """What a receiver has not accepted, see `Client.webhook_failures`."""
        failures: list[WebhookFailure] = await self._ask(undelivered(webhook_id, limit))
        return failures
