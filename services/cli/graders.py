"""The evaluators of an installation: which are declared, and their stages in the processes of the judge."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from services.wire.graders import Graders, durable_of

if TYPE_CHECKING:
    from services.cli.settings import PlatformSettings
    from services.cli.wiring import Parts
    from services.runtime.stage import Stage


def graders_of(names: str) -> Graders:
    """The evaluators of a list separated by commas.

    Raises:
        ValueError: There is no evaluator with a name, or a name appears twice.
    """
    listed = [name.strip() for name in names.split(",") if name.strip()]
    if not listed:  # most processes need no evaluator and load none
        return Graders()
    from services.judge.graders import declared

    return declared(listed)


def runs_graders(platform: "PlatformSettings", judge: str) -> bool:
    """Whether the processes of a judge run the evaluators: those of the only judge, or of the first."""
    judges = platform.declared_judges
    return bool(platform.declared_graders.reads) and (not judges.several or judge == judges.names[0])


@asynccontextmanager
async def open_graders(parts: "Parts") -> AsyncIterator[list["Stage[Any, Any]"]]:
    """A stage per declared evaluator.

    They have a model client of their own: what they spend counts for their budgets and for that of the
    day, but not for the budget of the battle, and their calls take no place of the judge's.

    Raises:
        click.ClickException: The file of options cannot be used.
    """
    from services.cli.shared_parts import open_chat_model, open_decision_model
    from services.judge.graders import EVALUATORS
    from services.judge.grading import Grader, build
    from services.store.chunks import Chunks
    from services.store.evaluator_budget import EvaluatorBudget

    selections = _selections(parts)
    unlimited = parts.llm.model_copy(update={"battle_tokens": None, "battle_money": None})
    currency = parts.llm.price_table().currency
    chunks = Chunks(parts.database)

    async def texts_of(chunk_ids: Sequence[str]) -> Mapping[str, str]:
        return {chunk_id: chunk.text for chunk_id, chunk in (await chunks.get(chunk_ids)).items()}

    async with open_chat_model(parts, unlimited) as model, open_decision_model(parts, unlimited) as decisions:
        stages = []
        for name in parts.platform.declared_graders.names:
            selection = selections[name]
            budget = EvaluatorBudget(parts.database, durable_of(name), selection.day, currency)
            grader = Grader(
                model=model,
                evaluator=EVALUATORS[name],
                selection=selection,
                passages=parts.pipeline.evaluator_passages,
                exhausted=budget.exhausted,
                decisions=decisions,
                texts_of=texts_of,
            )
            stages.append(build(grader, parts.blobs, concurrency=parts.pipeline.llm_stage_concurrency))
        yield stages


def _selections(parts: "Parts") -> Any:
    """The selection of every declared evaluator."""
    from services.judge.graders import EVALUATORS
    from services.judge.selection import Selection, read_selections

    file, names = parts.pipeline.evaluator_options, parts.platform.declared_graders.names
    try:
        selections = {} if file is None else dict(read_selections(file))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"NUGGETSTREAM_EVALUATOR_OPTIONS: {file}: {error}") from error
    if unknown := sorted(set(selections) - set(EVALUATORS)):
        raise click.ClickException(f"{file}: there is no evaluator {', '.join(unknown)}")
    priced = parts.llm.price_table().price_of(parts.llm.model_name) is not None
    for name, selection in selections.items():
        if selection.day_money is not None and not priced:
            raise click.ClickException(
                f"{file}: {name}: day_money needs a price for {parts.llm.model_name}: set "
                "NUGGETSTREAM_LLM_PRICES"
            )
    return {name: selections.get(name, Selection()) for name in names}
