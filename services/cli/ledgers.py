"""The ledger in which the calls of a model behind a URL are booked, other than those of the chat model."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.runtime.llm.accounting import Ledger
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
    from services.store.spend import DatabaseSpendStore

    prices = PriceTable() if llm.prices is None else PriceTable.load(llm.prices)
    budget = llm.budget()
    wants_money = budget.battle.money is not None or budget.day.money is not None or prices.limits_money
    if prices.price_of(model) is None and wants_money:
        raise ValueError(f"a money budget needs a price for {model}: set NUGGETSTREAM_LLM_PRICES")
    return Ledger(prices, budget, DatabaseSpendStore(database, prices.currency))
