"""Webhooks: what administrators ask of a platform about them, and what a receiver does with what arrives."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import quote

from nuggetstream.client.calls import Call
from nuggetstream.client.options import params_of
from nuggetstream.client.replies import reader
from nuggetstream.client.requests import request
from nuggetstream.views.events import EVENTS, KINDS, AnyEvent
from nuggetstream.views.signatures import verify
from nuggetstream.views.webhooks import (
    AddedWebhook,
    WebhookAction,
    WebhookFailure,
    WebhookTest,
    WebhookView,
)

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
    is_known = json.loads(body).get("kind") in KINDS
    return EVENTS.validate_json(body) if is_known else None


class Webhooks:
    """Webhooks, for administrators."""

    @request
    def add_webhook(
        self,
        url: str,
        arena: str = "default",
        *,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        languages: Sequence[str] = (),
    ) -> Call[AddedWebhook]:
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
        body = {
            "url": url,
            "arena": arena,
            "kinds": list(kinds),
            "tags": list(tags),
            "languages": list(languages),
        }
        return Call(
            method="POST",
            path=_PATH,
            read=reader(AddedWebhook),
            body=json.dumps(body).encode(),
            repeatable=False,  # each request adds another one
        )

    @request
    def webhooks(self, arena: str | None = None) -> Call[list[WebhookView]]:
        """The webhooks of an arena, or of all that the key administrates."""
        return Call(
            method="GET", path=_PATH, read=reader(list[WebhookView]), params=params_of({"arena": arena})
        )

    @request
    def remove_webhook(self, webhook_id: str) -> Call[WebhookAction]:
        """Remove a webhook, with what waits for it.

        Raises:
            NotFound: There is no such webhook.
        """
        return Call(method="DELETE", path=_of(webhook_id), read=reader(WebhookAction))

    @request
    def rotate_webhook(self, webhook_id: str, overlap_hours: float = 24.0) -> Call[AddedWebhook]:
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
        return Call(
            method="POST",
            path=f"{_of(webhook_id)}/rotate",
            read=reader(AddedWebhook),
            body=json.dumps({"overlap_hours": overlap_hours}).encode(),
            repeatable=False,  # each request makes another one
        )

    @request
    def test_webhook(self, webhook_id: str) -> Call[WebhookTest]:
        """Send an event of the kind `test` to a receiver, once.

        Raises:
            NotFound: There is no such webhook.
        """
        return Call(method="POST", path=f"{_of(webhook_id)}/test", read=reader(WebhookTest))

    @request
    def retry_webhook(self, webhook_id: str) -> Call[WebhookAction]:
        """Switch a webhook on, and send again what its receiver has not accepted.

        Raises:
            NotFound: There is no such webhook.
        """
        return Call(method="POST", path=f"{_of(webhook_id)}/retry", read=reader(WebhookAction))

    @request
    def webhook_failures(self, webhook_id: str, limit: int = 50) -> Call[list[WebhookFailure]]:
        """What a receiver has not accepted: first what was given up, then what waits, the newest first.

        Raises:
            NotFound: There is no such webhook.
        """
        return Call(
            method="GET",
            path=f"{_of(webhook_id)}/failures",
            read=reader(list[WebhookFailure]),
            params=params_of({"limit": limit}),
        )


def _of(webhook_id: str) -> str:
    return f"{_PATH}/{quote(webhook_id, safe='')}"
