"""Wiring: settings in, a model to ask out."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import httpx2
import openai

from services.runtime.llm.accounting import Ledger, SpendStore
from services.runtime.llm.cache import ReplyCache
from services.runtime.llm.client import LLMClient
from services.runtime.llm.endpoint import Endpoint
from services.runtime.llm.limiter import AdaptiveLimit
from services.runtime.llm.settings import LLMSettings

_Message = MutableMapping[str, Any]
ASGIApp = Callable[
    [_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]
]

_KEYLESS = "none"  # local servers ask for no key; the SDK insists on one


def with_asgi(app: ASGIApp) -> httpx2.AsyncClient:
    """An HTTP client whose every request goes to an application in this process."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app, raise_app_exceptions=False))


def build_chat_model(
    settings: LLMSettings,
    cache: ReplyCache | None = None,
    *,
    spend: SpendStore | None = None,
    http: httpx2.AsyncClient | None = None,
) -> LLMClient:
    """The model an operator configured.

    Args:
        settings: where it is and what it may cost.
        cache: where replies are kept; memory when not given.
        spend: where the bill is kept; memory, and budgets of this process only, when not given.
        http: how to reach it; offline, `with_asgi` of the offline application.

    Raises:
        ValueError: when the settings contradict each other, or are offline without an application.
        OSError: when a file they name cannot be read.
    """
    if settings.offline and http is None:
        raise ValueError("no model is configured, and no offline application was given to answer instead")
    key = settings.api_key.get_secret_value() if settings.api_key else _KEYLESS
    sdk = openai.AsyncOpenAI(
        api_key=key, base_url=settings.url, max_retries=0, timeout=settings.timeout_s, http_client=http
    )
    return LLMClient(
        Endpoint(sdk, settings.model_name, settings.timeout_s),
        cache,
        Ledger(settings.price_table(), settings.budget(), spend),
        limit=AdaptiveLimit(settings.concurrency),
        patience=settings.patience(),
        overrides=settings.overrides(),
    )
