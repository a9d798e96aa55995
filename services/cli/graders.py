"""The evaluators of an installation: which are declared, and their stages in the processes of the judge."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from nuggetstream.domain.evidence import Page
from services.wire.graders import durable_of

if TYPE_CHECKING:
    from services.cli.wiring.parts import Parts
    from services.judge.panel import Voter
    from services.judge.selection import PanelOptions, Selection
    from services.runtime.llm.client import LLMClient
    from services.runtime.llm.model import DecisionModel
    from services.runtime.llm.settings import LLMSettings
    from services.runtime.stage import Stage

    Models = tuple[LLMClient, DecisionModel | None]


@asynccontextmanager
async def open_graders(parts: "Parts") -> AsyncIterator[list["Stage[Any, Any]"]]:
    """A stage per declared evaluator.

    They have model clients of their own: what they spend counts for their budgets and for that of the
    day, but not for the budget of the battle, and their calls take no place of the judge's.

    Raises:
        click.ClickException: The file of options cannot be used, or an evaluator has the name of a judge.
    """
    from services.cli.evaluator_options import evaluator_options
    from services.cli.voters import unlimited
    from services.judge.graders import EVALUATORS

    names, tables = parts.platform.declared_graders.names, evaluator_options(parts)
    if (judge := parts.pipeline.judge_evaluator) in names:
        raise click.ClickException(
            f"{judge} is the judge that battles wait for: remove it from NUGGETSTREAM_EVALUATORS, or set "
            "NUGGETSTREAM_JUDGE_EVALUATOR to another one"
        )
    async with AsyncExitStack() as opened:
        stages: list[Stage[Any, Any]] = []
        # One client for all without settings of their own: a prompt that several of them need is asked once.
        shared = await _models(parts, unlimited(parts.llm), opened)
        for name in names:
            own = unlimited(parts.llm.for_stage(name))
            models = await _models(parts, own, opened) if name in parts.llm.stages else shared
            if name in EVALUATORS:
                stages.append(await _grader(parts, models, name, tables, opened))
            else:
                stages.append(await _judge(parts, models, name, tables, opened))
        yield stages


async def _models(parts: "Parts", llm: "LLMSettings", opened: AsyncExitStack) -> "Models":
    """The models of evaluators: for chat, and for decisions where the profile asks for them."""
    from services.cli.shared_parts import open_chat_model, open_decision_model

    model = await opened.enter_async_context(open_chat_model(parts, llm))
    return model, await opened.enter_async_context(open_decision_model(parts, llm))


async def _grader(
    parts: "Parts",
    models: "Models",
    name: str,
    tables: Mapping[str, "Selection"],
    opened: AsyncExitStack,
) -> "Stage[Any, Any]":
    """The stage of an evaluator that grades; the members of a panel have clients of their own."""
    from services.cli.evaluator_options import options_of_grader
    from services.cli.shared_parts import question_banks
    from services.judge.graders import EVALUATORS
    from services.judge.grading import Grader, build
    from services.store.chunks import Chunks

    chunks = Chunks(parts.database)

    async def texts_of(chunk_ids: Sequence[str]) -> Mapping[str, str]:
        return {chunk_id: chunk.text for chunk_id, chunk in (await chunks.get(chunk_ids)).items()}

    async def stored_of(pages: Sequence[Page]) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for chunk in await chunks.of_pages(
            sorted({page.content_hash for page in pages if page.content_hash})
        ):
            found.setdefault(chunk.content_hash, []).append(chunk.text)
        return found

    options, (model, decisions) = options_of_grader(tables, name), models
    grader = Grader(
        model=model,
        decisions=decisions,
        texts_of=texts_of,
        stored_of=stored_of,
        evaluator=EVALUATORS[name],
        selection=options,
        passages=parts.pipeline.evaluator_passages,
        exhausted=_budget(parts, name, options),
        banks=question_banks(parts, model.overrides),
        members=await _members(parts, name, options, opened),
    )
    return build(grader, parts.blobs, concurrency=parts.pipeline.llm_stage_concurrency)


async def _judge(
    parts: "Parts",
    models: "Models",
    name: str,
    tables: Mapping[str, "Selection"],
    opened: AsyncExitStack,
) -> "Stage[Any, Any]":
    """The stage of an additional judge; the members of a panel have clients of their own."""
    from services.cli.evaluator_options import options_of_judge, with_tie_band_of
    from services.judge.comparing import Comparer, build
    from services.judge.pairwise import kinds
    from services.judge.panel import Voter

    options = with_tie_band_of(parts, name, options_of_judge(tables, name))
    comparer = Comparer(
        name=name,
        kind=kinds()[name],
        voters=await _members(parts, name, options, opened) or [Voter("", *models)],
        options=options,
        both_orders=parts.pipeline.profile != "paper",
        passages=parts.pipeline.evaluator_passages,
        exhausted=_budget(parts, name, options),
    )
    return build(comparer, parts.blobs, concurrency=parts.pipeline.llm_stage_concurrency)


async def _members(
    parts: "Parts", name: str, options: "PanelOptions", opened: AsyncExitStack
) -> "Sequence[Voter]":
    """The members of a panel; none where the evaluator is a single model."""
    from services.cli.voters import open_voters, unlimited

    if not options.members:
        return ()
    llm = unlimited(parts.llm.for_stage(name))
    return [voter for voter, _ in await opened.enter_async_context(open_voters(parts, llm, options))]


def _budget(parts: "Parts", name: str, selection: "Selection") -> "Callable[[], Awaitable[str | None]]":
    from services.store.evaluator_budget import EvaluatorBudget

    currency = parts.llm.price_table().currency
    return EvaluatorBudget(parts.database, durable_of(name), selection.day, currency).exhausted
