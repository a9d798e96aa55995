"""The stage of the judge that battles wait for: one model, or a panel, of the configured kind."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from services.cli.shared_parts import model_state, open_chat_model, open_decision_model
from services.cli.wiring.parts import Parts

if TYPE_CHECKING:
    from services.judge.selection import JudgeOptions
    from services.runtime.service import BackgroundTask
    from services.runtime.stage import Stage

Opened = tuple["Stage[Any, Any]", Sequence["BackgroundTask"]]


@asynccontextmanager
async def open_judge_stage(parts: Parts) -> AsyncIterator[Opened]:
    """The stage, and the tasks that tell while its models are away.

    Raises:
        click.ClickException: The file of options, or the tie band, cannot be used.
    """
    from services.cli.evaluator_options import evaluator_options, options_of_judge, with_tie_band_of
    from services.judge.evaluators import EVALUATORS

    name = parts.pipeline.judge_evaluator
    options = options_of_judge(evaluator_options(parts), name)
    options = with_tie_band_of(parts, name, options, parts.pipeline.judge_tie_band)
    async with AsyncExitStack() as opened:
        if options.members or parts.pipeline.judge_evaluator not in EVALUATORS:
            yield await _compared(parts, opened, options)
        else:
            yield await _judged(parts, opened, options.tie_band)


async def _judged(
    parts: Parts,
    opened: AsyncExitStack,
    tie_band: float | None,
) -> Opened:
    """A judge that is a prompt and one model."""
    from services.judge.evaluators import EVALUATORS
    from services.judge.stage import Judge, build

    pipeline = parts.pipeline
    llm = parts.llm.for_stage("judge")
    model = await opened.enter_async_context(open_chat_model(parts, llm))
    decisions = await opened.enter_async_context(open_decision_model(parts, llm))
    judge = Judge(
        model=model,
        evaluator=pipeline.judge_evaluator,
        prompt=EVALUATORS[pipeline.judge_evaluator],
        both_orders=pipeline.profile != "paper",
        passages=pipeline.judge_passages,
        characters=pipeline.excerpted(pipeline.judge_characters),
        decisions=decisions,
        tie_band=tie_band,
    )
    stage = build(
        judge,
        parts.blobs,
        concurrency=pipeline.llm_stage_concurrency,
    )
    return stage, [model_state(parts.bus, stage.name, decisions or model)]


async def _compared(
    parts: Parts,
    opened: AsyncExitStack,
    options: "JudgeOptions",
) -> Opened:
    """A judge of another kind, or a panel."""
    from services.cli.voters import open_voters
    from services.judge.comparing import Comparer, build
    from services.judge.pairwise import kinds

    pipeline = parts.pipeline
    voters = await opened.enter_async_context(open_voters(parts, parts.llm.for_stage("judge"), options))
    comparer = Comparer(
        name=pipeline.judge_evaluator,
        kind=kinds()[pipeline.judge_evaluator],
        voters=[voter for voter, _ in voters],
        options=options,
        both_orders=pipeline.profile != "paper",
        passages=pipeline.judge_passages,
        characters=pipeline.excerpted(pipeline.judge_characters),
        additional=False,
    )
    stage = build(
        comparer,
        parts.blobs,
        concurrency=pipeline.llm_stage_concurrency,
    )
    return stage, [model_state(parts.bus, stage.name, client) for _, client in voters]
