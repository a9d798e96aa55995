"""The budgets of an installation, as its gateway shows them."""

from typing import TYPE_CHECKING

import click

from services.gateway.operations.budgets import Budgets, DayBudget
from services.runtime.llm.budget import Limit
from services.wire.evaluators import durable_of

if TYPE_CHECKING:
    from services.cli.wiring.parts import Parts


def budgets_of(parts: "Parts") -> Budgets:
    """The limits per battle and day, and those of the declared evaluators that have one.

    The gateway asks no model, so that it starts also where it cannot read a file that only others need.
    """
    budget = parts.llm.budget()
    days = [DayBudget("All model calls", budget.day)] if budget.day != Limit() else []
    try:
        days += _of_evaluators(parts)
        return Budgets(budget.battle, tuple(days), parts.llm.price_table().currency)
    except (OSError, ValueError, click.ClickException) as error:
        return Budgets(budget.battle, tuple(days), problem=str(error))


def _of_evaluators(parts: "Parts") -> list[DayBudget]:
    if parts.pipeline.evaluator_options is None:
        return []
    from services.cli.wiring.evaluator_options import evaluator_options

    tables = evaluator_options(parts)
    return [
        DayBudget(name.replace("_", " "), tables[name].day, durable_of(name))
        for name in parts.platform.evaluators
        if name in tables and tables[name].day != Limit()
    ]
