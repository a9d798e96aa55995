"""The file NUGGETSTREAM_EVALUATOR_OPTIONS: the battles, budgets and models of evaluators."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from services.judge.options import Options, Selection, VerdictOptions, read_options
from services.judge.registry import EVALUATORS

if TYPE_CHECKING:
    from services.cli.wiring.parts import Parts


_SOURCE_CHARACTERS = 80  # of the column `source` of the outcomes
_OF_A_SOURCE = len("member:/")
_OF_SELECTION = frozenset(Selection.model_fields)


def evaluator_options(parts: "Parts") -> Mapping[str, Options]:
    """The options of every evaluator that the file names.

    Raises:
        click.ClickException: The file cannot be read or used.
    """
    if (file := parts.pipeline.evaluator_options) is None:
        return {}
    try:
        types = {name: evaluator.option_type for name, evaluator in EVALUATORS.items()}
        tables = read_options(file, types)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"NUGGETSTREAM_EVALUATOR_OPTIONS: {file}: {error}") from error
    for name, table in tables.items():
        if problem := _problem(parts, name, table):
            raise click.ClickException(f"{file}: {name}: {problem}")
    return tables


def _problem(parts: "Parts", name: str, table: Options) -> str | None:
    """Why a table cannot be used; None where it can."""
    restricting = sorted(_OF_SELECTION & table.model_fields_set)
    if name == parts.pipeline.judge_evaluator and restricting:
        return f"battles wait for this judge, so it has no {', '.join(restricting)}"
    if isinstance(table, VerdictOptions):
        longest = max((len(model.name) for model in table.models), default=0)
        if len(name) + longest + _OF_A_SOURCE > _SOURCE_CHARACTERS:
            return "its name and the name of a model are too long together"
    prices, models = parts.llm.price_table(), [parts.llm.model_name]
    if table.models and not parts.llm.offline:
        models = [model.model for model in table.models]
    unpriced = [model for model in models if prices.price_of(model) is None]
    if table.day_money is not None and unpriced:
        return f"day_money needs a price for {', '.join(unpriced)}: set NUGGETSTREAM_LLM_PRICES"
    return None
