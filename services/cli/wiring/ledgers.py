"""The endpoint and the ledger of a model behind a URL, other than the chat model."""

from typing import TYPE_CHECKING

from services.runtime.llm.address import EndpointAddress
from services.runtime.masking import KNOWN, secrets_in

if TYPE_CHECKING:
    from services.runtime.llm.accounting import Ledger
    from services.runtime.llm.build import ASGIApp
    from services.runtime.llm.exchange import Exchange, Names
    from services.runtime.llm.settings import LLMSettings
    from services.store.database import Database


def ledger_for(model: str, llm: "LLMSettings", database: "Database") -> "Ledger":
    """A ledger with the prices and budgets of the settings, which books in the database.

    Args:
        model: Name of the model.
        llm: Contains prices and budgets.
        database: Contains what was spent.

    Raises:
        ValueError: The price of the model is missing, although there is a budget of money.
    """
    from services.runtime.llm.accounting import Ledger
    from services.runtime.llm.prices import PriceTable
    from services.store.spend.spend import DatabaseSpendStore

    prices = PriceTable() if llm.prices is None else PriceTable.load(llm.prices)
    budget = llm.budget()
    wants_money = budget.battle.money is not None or budget.day.money is not None or prices.limits_money
    if prices.price_of(model) is None and wants_money:
        raise ValueError(f"a money budget needs a price for {model}: set NUGGETSTREAM_LLM_PRICES")
    return Ledger(prices, budget, DatabaseSpendStore(database, prices.currency))


def open_exchange(
    url: str, key: str | None, timeout_s: float, names: "Names", app: "ASGIApp | None" = None
) -> "Exchange":
    """Calls of an endpoint, whose secrets are masked in logs from now on.

    Args:
        url: Base URL, as the operator configured it.
        key: Key for it.
        timeout_s: Seconds for one call.
        names: How messages call the model and its settings.
        app: Answers in this process in place of the endpoint; None to ask the endpoint.
    """
    import openai

    from services.runtime.llm.build import with_asgi
    from services.runtime.llm.exchange import Exchange

    address = EndpointAddress.of(url, key)
    pair = address.headers.get("Authorization", "").partition(" ")[2]
    KNOWN.remember(*(secret for secret in (key, pair, *secrets_in(url)) if secret))
    client = openai.AsyncOpenAI(
        api_key=key or "none",  # the SDK requires one
        base_url=address.url,
        default_query=address.parameters,
        default_headers=address.headers,
        max_retries=0,
        timeout=timeout_s,
        http_client=None if app is None else with_asgi(app),
    )
    return Exchange(client, timeout_s, names)
