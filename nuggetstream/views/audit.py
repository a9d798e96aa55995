"""The audit log as the API shows it."""

from datetime import datetime

from nuggetstream.views.common import View


class AuditView(View):
    """An action of a key."""

    at: datetime
    """When it was done."""
    key: str
    """Id of the key; "administrator-…" for the administrators' token, "local" for a program on the gateway's
    machine where no key is needed, "command" for the command `nuggetstream keys`."""
    action: str
    """What was done, such as "submit" or "delete battle"."""
    arena: str | None = None
    """Where; null where the action is about no single arena."""
    subject: str | None = None
    """Id of the key that was created, rotated or revoked; null for other actions."""
