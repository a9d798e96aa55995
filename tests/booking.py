"""Model calls that are booked at once."""

from typing import Any

from services.runtime.llm.accounting import Ledger


async def book(ledger: Ledger, *call: Any) -> None:
    """Book one call with the arguments of `Ledger.enter`."""
    ledger.enter(*call)
    await ledger.flush()
