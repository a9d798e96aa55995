"""Whether a process that other machines can reach is protected."""

from services.access.keys import Policy
from services.runtime.listening import is_loopback
from services.store.access.api_keys import ApiKeys


class Unprotected(Exception):
    """A process would serve other machines, and nobody has a key."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"other machines can reach NUGGETSTREAM_HOST={host}, and there is no API key: create one with "
            "`nuggetstream keys create`, or set NUGGETSTREAM_ADMIN_TOKEN; NUGGETSTREAM_OPEN_ACCESS=true "
            "serves everybody without keys"
        )


def policy_of(host: str, admin_token: str | None, *, open_access: bool) -> Policy:
    """When a process that listens on a host needs keys."""
    return Policy(admin_token, always=not is_loopback(host), open=open_access)


async def require_protection(host: str, policy: Policy, store: ApiKeys) -> None:
    """Return if a process may listen on a host.

    Raises:
        Unprotected: Other machines could reach it, keys are needed, and there is none.
        Unavailable: The database does not answer.
    """
    if policy.open or not policy.always or policy.admin_token is not None:
        return
    if not await store.exist():
        raise Unprotected(host)
