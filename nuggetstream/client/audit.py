"""The audit log over the API."""

from nuggetstream.client.calls import Call
from nuggetstream.client.replies import reader
from nuggetstream.views.audit import AuditView


def audit(arena: str | None, key: str | None, limit: int) -> Call[list[AuditView]]:
    """Read who did what, as an administrator."""
    given = (("arena", arena), ("key", key), ("limit", str(limit)))
    params = tuple((name, value) for name, value in given if value is not None)
    return Call(method="GET", path="/v1/admin/audit", read=reader(list[AuditView]), params=params)
