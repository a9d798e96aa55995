"""Limits of what model calls may cost."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Limit:
    """The most tokens and the most money that may be spent. None means unlimited."""

    tokens: int | None = None
    money: Decimal | None = None

    def exceeded_by(self, tokens: int, amount: Decimal) -> str | None:
        """Say which limit this spending exceeds; None when it exceeds none."""
        if self.tokens is not None and tokens > self.tokens:
            return f"{tokens} of {self.tokens} tokens"
        if self.money is not None and amount > self.money:
            return f"{amount:.4f} of {self.money} in money"
        return None


@dataclass(slots=True)
class Reserved:
    """The input of calls in flight."""

    tokens: int = 0
    amount: Decimal = Decimal(0)

    def change(self, sign: int, tokens: int, amount: Decimal) -> None:
        """Add the input of a call with the sign 1, remove it with -1."""
        self.tokens += sign * tokens
        self.amount += sign * amount


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits per battle and per day (UTC)."""

    battle: Limit = Limit()
    day: Limit = Limit()
