"""Prices of models, as the operator states them in a price file.

    currency = "USD"

    [models."gpt-5-mini"]        # for every model whose name starts with this; the longest prefix wins
    input = 0.25                 # per million tokens
    cached_input = 0.025         # optional: for input that was in the provider's prompt cache
    output = 2.00
    batch = 0.5                  # optional: factor of all three for calls in batches; half by default

    [arenas.mine]                # optional: what calls for the battles of an arena may cost per day (UTC)
    day_tokens = 1_000_000
    day_money = "2.50"

    [keys."site a"]              # optional: the same for the battles that are sent with API keys of this name
    day_money = "1.00"

Prices change and differ by contract, so no price is built in, except that the offline model is free.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from services.runtime.llm.budget import Limit

OFFLINE_MODEL = "offline-heuristic"
Part = Literal["arena", "key"]
_PER = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency. Amounts in different currencies cannot be added."""

    amount: Decimal
    currency: str = "USD"

    def __add__(self, other: "Money") -> "Money":
        if self.currency != other.currency:
            raise ValueError(f"amounts in {self.currency} and {other.currency} cannot be added")
        return Money(self.amount + other.amount, self.currency)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one or more calls.

    Attributes:
        input: Prompt tokens, cached ones included.
        output: Reply tokens, reasoning included.
        cached_input: The part of `input` that was in the provider's prompt cache.
    """

    input: int = 0
    output: int = 0
    cached_input: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.input + other.input, self.output + other.output, self.cached_input + other.cached_input
        )

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input + self.output


class DayBudget(BaseModel):
    """What calls, such as those for the battles of one arena or API key, may cost per day (UTC).

    Attributes:
        day_tokens: Tokens per day; None is unlimited.
        day_money: Money per day, in the currency of the price file; None is unlimited.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    day_tokens: int | None = Field(default=None, ge=0)
    day_money: Decimal | None = Field(default=None, ge=0)

    @property
    def day(self) -> Limit:
        """The budget per day."""
        return Limit(self.day_tokens, self.day_money)


class Price(BaseModel):
    """Prices per million tokens, and their factor for calls in batches."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)
    cached_input: Decimal | None = Field(default=None, ge=0)
    batch: Decimal = Field(default=Decimal("0.5"), ge=0)

    def of(self, tokens: Tokens) -> Decimal:
        """Cost of these tokens."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = tokens.input - tokens.cached_input
        total = self.input * fresh + cached * tokens.cached_input + self.output * tokens.output
        return total / _PER

    def in_batches(self) -> "Price":
        """The price of calls in batches."""
        cached = None if self.cached_input is None else self.cached_input * self.batch
        return Price(input=self.input * self.batch, output=self.output * self.batch, cached_input=cached)


@pydantic_dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class PriceTable:
    """Prices by prefix of the model's name, and budgets of arenas and names of API keys."""

    models: Mapping[str, Price] = field(default_factory=dict)
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    arenas: Mapping[str, DayBudget] = field(default_factory=dict)
    keys: Mapping[str, DayBudget] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "PriceTable":
        """Read a TOML or JSON file.

        Raises:
            ValueError: The file is not a price table.
            OSError: The file cannot be read.
        """
        text = path.read_text(encoding="utf-8")
        try:
            decoded: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
            return TypeAdapter(cls).validate_python(decoded)
        except ValidationError as error:
            wrong = (f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
            raise ValueError(f"{path}: {'; '.join(wrong)}") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def of_batches(self) -> "PriceTable":
        """The prices of calls in batches.

        >>> table = PriceTable({"m": Price(input=Decimal(1), output=Decimal(2))}).of_batches()
        >>> table.cost("m", Tokens(input=1_000_000))
        Money(amount=Decimal('0.5'), currency='USD')
        """
        return replace(self, models={name: price.in_batches() for name, price in self.models.items()})

    @property
    def limits_money(self) -> bool:
        """Whether an arena or key has a budget of money, for which every model needs a price."""
        return any(budget.day_money is not None for budget in (*self.arenas.values(), *self.keys.values()))

    def day_limit(self, part: Part, name: str) -> Limit | None:
        """The budget per day of an arena, or of the API keys of a name; None where it has none."""
        budget = (self.arenas if part == "arena" else self.keys).get(name)
        return None if budget is None else budget.day

    def price_of(self, model: str) -> Price | None:
        """The price of a model, or None when the table has none."""
        if model == OFFLINE_MODEL or model.startswith(f"{OFFLINE_MODEL}:"):
            return Price(input=Decimal(0), output=Decimal(0))
        prefixes = [prefix for prefix in self.models if model.startswith(prefix)]
        return self.models[max(prefixes, key=len)] if prefixes else None

    def cost(self, model: str, tokens: Tokens) -> Money | None:
        """Cost of these tokens of a model; None (unknown, not free) when the model has no price.

        >>> table = PriceTable({"m": Price(input=Decimal(1), output=Decimal(2))})
        >>> table.cost("m-large", Tokens(input=1_000_000, output=500_000))
        Money(amount=Decimal('2'), currency='USD')
        """
        price = self.price_of(model)
        return None if price is None else Money(price.of(tokens), self.currency)


def estimate_tokens(text: str) -> int:
    """Estimated number of tokens of a text: one per four bytes of UTF-8, rounded up.

    This is close to what byte-pair vocabularies give for English, and within a factor of two for other
    scripts.

    >>> estimate_tokens("twelve bytes")
    3
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)
