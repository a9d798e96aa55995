"""Webhooks as administrators see them, as JSON."""

from datetime import datetime
from typing import Literal

from nuggetstream.views.common import View


class WebhookView(View):
    """Where the events of an arena are sent. A secret is shown once, when it is made."""

    id: str
    arena: str
    url: str
    """Without the values of its parameters, which may be secrets."""
    kinds: list[str]
    """Kinds of events that are sent; all when empty."""
    tags: list[str]
    """Tags of which a battle has one; all battles when empty."""
    languages: list[str]
    """Language tags, declared or detected; all battles when empty."""
    created_at: datetime
    enabled: bool
    """False once the receiver failed for three days, or answered 410; `retry` switches it on again."""
    failures: int
    """Failed attempts since the last one that succeeded."""
    failing_since: datetime | None = None
    paused_until: datetime | None = None
    """When the next attempt is made; null for at once."""
    last_error: str | None = None
    accepted_at: datetime | None = None
    """When the receiver accepted an event last."""
    previous_secret_until: datetime | None = None
    """Until when the secret before the latest rotation signs as well; null without one."""


class AddedWebhook(WebhookView):
    """A webhook that was added, or got a new secret, with this secret."""

    secret: str
    """Signs what is sent. It is not shown again."""


class WebhookFailure(View):
    """An event that a receiver has not accepted."""

    webhook_id: str
    battle_id: str
    number: int
    """Number of the event within the battle."""
    kind: str
    recorded_at: datetime
    attempts: int
    next_at: datetime | None = None
    """When it is sent again; null where it was given up."""
    reason: str
    """Why the latest attempt failed; empty before the first."""


class WebhookTest(View):
    """What became of an event of the kind `test`, which was sent once."""

    accepted: bool
    detail: str
    """What the receiver answered, or why there was no answer."""


class WebhookAction(View):
    """What was done to a webhook."""

    id: str
    result: Literal["removed", "retried"]
    events: int = 0
    """Events that are sent again."""
