"""Build the chat model that the settings describe."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

import httpx2

from services.runtime.claims import Claims, ClaimStore
from services.runtime.llm.accounting import Ledger, SpendStore
from services.runtime.llm.cache import ReplyCache
from services.runtime.llm.call_log import CallLog
from services.runtime.llm.client import LLMClient
from services.runtime.llm.endpoint import Endpoint
from services.runtime.llm.limiter import AdaptiveLimit, Limits
from services.runtime.llm.prompt import TASKS
from services.runtime.llm.sdk import sdk_of
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import KNOWN

_Message = MutableMapping[str, Any]
ASGIApp = Callable[
    [_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]
]

_BATCHED_S = 30 * 24 * 3600.0  # a call may wait for several batches, each of a day
_BATCHED_AT_ONCE = 1_000_000


def with_asgi(app: ASGIApp) -> httpx2.AsyncClient:
    """An HTTP client whose every request goes to an application in this process."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app, raise_app_exceptions=False))


def build_chat_model(
    settings: LLMSettings,
    cache: ReplyCache | None = None,
    *,
    spend: SpendStore | None = None,
    claims: ClaimStore | None = None,
    log: CallLog | None = None,
    http: httpx2.AsyncClient | None = None,
    tasks: Sequence[str] = TASKS,
    batched: bool = False,
    limits: Limits | None = None,
) -> LLMClient:
    """Build the model that an operator configured.

    Args:
        settings: Where the model is and what it may cost.
        cache: Where replies are cached; in memory by default.
        spend: Where costs are stored; by default in memory, and then budgets cover only this process.
        claims: Claims on prompts, where other processes ask the same model.
        log: Log of the calls; none by default.
        http: HTTP client to use; for the offline model, `with_asgi` of the offline application, and for calls
            in batches that of `Batches`.
        tasks: All tasks whose prompts an operator can override.
        batched: Whether calls wait for a batch: at the price of batches, without a limit of calls at once,
            and without the fallback, which would be asked at the full price.
        limits: Limits of calls at once, and speeds, that clients share; this client has its own by default.

    Raises:
        ValueError: The settings contradict each other, or are offline and `http` is missing.
        OSError: A file that the settings name cannot be read.
    """
    if settings.offline and http is None:
        raise ValueError("no model is configured, and no offline application was given to answer instead")
    KNOWN.remember(*settings.secrets())
    fallback = None if batched else settings.at_fallback()
    limits = limits or Limits()
    prices = settings.price_table()
    return LLMClient(
        _endpoint(settings, http, limits, batched=batched),
        cache,
        Ledger(prices.of_batches() if batched else prices, settings.budget(), spend),
        limit=_limit(settings, limits, batched=batched),
        patience=settings.patience_s,
        overrides=settings.overrides(tasks),
        claims=Claims(claims),
        log=log,
        options=settings.parameters,
        fallback=None if fallback is None else _endpoint(fallback, None, limits),
    )


def _limit(settings: LLMSettings, limits: Limits, *, batched: bool) -> AdaptiveLimit:
    """The limit of calls at once; only that of an endpoint that answers at its own speed is learnt."""
    if batched:
        return AdaptiveLimit(_BATCHED_AT_ONCE, _BATCHED_AT_ONCE)
    if settings.offline:
        return AdaptiveLimit(settings.concurrency, settings.concurrency)
    return limits.of(settings.url, settings.concurrency)


def _endpoint(
    settings: LLMSettings, http: httpx2.AsyncClient | None, limits: Limits, *, batched: bool = False
) -> Endpoint:
    timeout_s = _BATCHED_S if batched else settings.timeout_s
    return Endpoint(
        sdk_of(settings, http, timeout_s),
        settings.model_name,
        timeout_s,
        speed=limits.speed_of(settings.url, settings.model_name, timeout_s),
        batched=batched,
        stream=not settings.offline,  # the offline model answers within this process
    )
