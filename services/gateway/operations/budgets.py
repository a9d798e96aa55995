"""The budgets of model calls and what is left of them today.

configured limits, costs of today  ->  a line per budget: limit, spent, left
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from services.runtime.llm.budget import Limit
from services.store.spend.costs import CostLine

_ZERO, _UNLIMITED = Decimal(0), Limit()


@dataclass(frozen=True, slots=True)
class DayBudget:
    """A limit of what calls may cost per day (UTC).

    Attributes:
        name: Whose budget it is.
        limit: The limit.
        stage: The stage whose calls count; None where all calls count.
    """

    name: str
    limit: Limit
    stage: str | None = None


@dataclass(frozen=True, slots=True)
class Budgets:
    """The budgets as this process is configured; those of other processes can differ.

    Attributes:
        battle: What scoring one battle may cost.
        days: Budgets per day.
        currency: Currency of money limits.
        problem: Why further budgets are not known; None where all are.
    """

    battle: Limit = _UNLIMITED
    days: tuple[DayBudget, ...] = ()
    currency: str = "USD"
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """One limit of a budget.

    Attributes:
        name: Whose budget it is.
        unit: "tokens", or the currency.
        limit: The limit.
        spent: What calls of today have cost.
    """

    name: str
    unit: str
    limit: Decimal
    spent: Decimal

    @property
    def left(self) -> Decimal:
        """What is left; 0 where more than the limit was spent."""
        return max(self.limit - self.spent, _ZERO)

    @property
    def share(self) -> float:
        """Share that is spent, in [0, 1]."""
        return float(min(self.spent / self.limit, Decimal(1))) if self.limit else 1.0


def budget_lines(budgets: Budgets, today: Sequence[CostLine]) -> list[BudgetLine]:
    """The budgets per day that have a limit.

    Args:
        budgets: The budgets.
        today: What the calls of today have cost, in all arenas.
    """
    lines = []
    for budget in budgets.days:
        own = [line for line in today if budget.stage in (None, line.stage)]
        if budget.limit.tokens is not None:
            spent = sum(line.input_tokens + line.output_tokens for line in own)
            lines.append(BudgetLine(budget.name, "tokens", Decimal(budget.limit.tokens), Decimal(spent)))
        if budget.limit.money is not None:
            priced = [line.amount or _ZERO for line in own if line.currency == budgets.currency]
            amount = sum(priced, _ZERO)
            lines.append(BudgetLine(budget.name, budgets.currency, budget.limit.money, amount))
    return lines
