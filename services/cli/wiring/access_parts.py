"""What decides who may use the gateway and the rater, from the settings and connections of a process."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.access.keys import Keys
    from services.access.rpc_guard import RpcGuard
    from services.cli.wiring.parts import Parts
    from services.gateway.access.guard import Access
    from services.store.battles.battles import Battles


def _keys(parts: "Parts") -> "Keys":
    from services.access.exposure import policy_of
    from services.access.keys import Keys
    from services.store.access.api_keys import ApiKeys

    policy = policy_of(parts.host, parts.platform.admin_token, open_access=parts.access.open_access)
    return Keys(ApiKeys(parts.database), policy)


async def gateway_access(parts: "Parts", battles: "Battles") -> "Access":
    """The checks of the gateway.

    Raises:
        Unprotected: Other machines can reach it, and there is no key.
        Unavailable: The database does not answer.
    """
    from services.access.exposure import require_protection
    from services.access.limits import Quotas
    from services.gateway.access.guard import Access
    from services.gateway.access.proxies import TrustedProxies
    from services.gateway.failures.access import AdminAccess
    from services.store.access.audit_log import AuditLog

    keys = _keys(parts)
    await require_protection(parts.host, keys.policy, keys.store)
    await keys.required()  # the first requests need not wait for the answer
    return Access(
        keys=keys,
        battles=battles,
        log=AuditLog(parts.database),
        admin=AdminAccess(parts.platform.admin_token, parts.host),
        quotas=Quotas(keys.store),
        proxies=TrustedProxies(parts.access.trusted_proxies, parts.access.proxy_user_header),
    )


def rater_guard(parts: "Parts") -> "RpcGuard":
    """The checks of the rater, which the gateway may ask without a key."""
    from services.access.limits import Rates
    from services.access.rpc_guard import RpcGuard
    from services.store.access.audit_log import AuditLog

    log = AuditLog(parts.database)
    return RpcGuard(keys=_keys(parts), rates=Rates(), log=log, trusts_platform=True)
