"""The evaluators of a judge process: the judge that battles wait for, and those that run beside it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import click
import structlog

from nuggetstream.domain.evidence import Page
from services.cli.wiring.evaluator_options import evaluator_options
from services.cli.wiring.parts import Parts
from services.cli.wiring.shared_parts import open_chat_model, open_decision_model, question_banks
from services.judge.asking import Member
from services.judge.options import Options, VerdictOptions
from services.judge.registry import EVALUATORS
from services.judge.stage import Panel
from services.runtime.llm.client import LLMClient
from services.runtime.llm.prices import OFFLINE_MODEL
from services.runtime.llm.settings import LLMSettings
from services.store.content.chunks import Chunks
from services.store.spend.evaluator_budget import EvaluatorBudget
from services.wire.evaluators import durable_of

log = structlog.get_logger(__name__)

_JUDGED = 2  # a verdict needs less evidence than nuggets: half of the characters

Asked = tuple[Member, LLMClient]  # a model, and the client that is asked first


@asynccontextmanager
async def open_judge(parts: Parts) -> AsyncIterator[tuple[Panel, Sequence[LLMClient]]]:
    """The judge that battles wait for, and the clients of its models.

    Raises:
        click.ClickException: The file of options cannot be used.
    """
    pipeline, name = parts.pipeline, parts.pipeline.judge_evaluator
    async with AsyncExitStack() as opened:
        options = evaluator_options(parts).get(name)
        _warn_of_tie_band(parts, name, options)
        asked = await _members(parts, parts.llm.for_stage("judge"), options, opened)
        panel = Panel(
            evaluator=EVALUATORS[name],
            members=[member for member, _ in asked],
            options=options,
            awaited=True,
            both_orders=pipeline.profile != "paper",
            characters=pipeline.excerpted(_JUDGED),
        )
        yield panel, [client for _, client in asked]


@asynccontextmanager
async def open_panels(parts: Parts) -> AsyncIterator[list[Panel]]:
    """The declared evaluators.

    They have model clients of their own: what they spend counts for their budgets and for that of the
    day, but not for the budget of the battle, and their calls take no place of the judge's.

    Raises:
        click.ClickException: The file of options cannot be used, or battles wait for an evaluator.
    """
    names, tables = parts.platform.evaluators, evaluator_options(parts)
    if (judge := parts.pipeline.judge_evaluator) in names:
        raise click.ClickException(
            f"{judge} is the judge that battles wait for: remove it from NUGGETSTREAM_EVALUATORS, or set "
            "NUGGETSTREAM_JUDGE_EVALUATOR to another one"
        )
    async with AsyncExitStack() as opened:
        panels: list[Panel] = []
        # One client for all without models of their own: a prompt that several of them need is asked once.
        shared = await _members(parts, _unlimited(parts.llm), None, opened) if names else []
        for name in names:
            asked, options = shared, tables.get(name)
            _warn_of_tie_band(parts, name, options)
            if name in parts.llm.stages or (options is not None and options.models):
                asked = await _members(parts, _unlimited(parts.llm.for_stage(name)), options, opened)
            panels.append(_panel(parts, name, options, asked))
        yield panels


def _panel(parts: Parts, name: str, options: Options | None, asked: Sequence[Asked]) -> Panel:
    """An evaluator that battles do not wait for."""
    chunks, currency = Chunks(parts.database), parts.llm.price_table().currency

    async def texts_of(chunk_ids: Sequence[str]) -> Mapping[str, str]:
        return {chunk_id: chunk.text for chunk_id, chunk in (await chunks.get(chunk_ids)).items()}

    async def stored_of(pages: Sequence[Page]) -> Mapping[str, Sequence[str]]:
        texts: dict[str, list[str]] = {}
        hashes = sorted({page.content_hash for page in pages if page.content_hash})
        for chunk in await chunks.of_pages(hashes):
            texts.setdefault(chunk.content_hash, []).append(chunk.text)
        return texts

    panel = Panel(
        evaluator=EVALUATORS[name],
        members=[member for member, _ in asked],
        options=options,
        both_orders=parts.pipeline.profile != "paper",
        texts_of=texts_of,
        stored_of=stored_of,
        banks=question_banks(parts, asked[0][1].overrides),
    )
    day = panel.own_options.day
    budget = EvaluatorBudget(parts.database, durable_of(name), day, currency)
    return replace(panel, exhausted=budget.exhausted)


def _warn_of_tie_band(parts: Parts, name: str, options: Options | None) -> None:
    """Profiles without decisions are warned that a tie band has no effect."""
    band = options.tie_band if isinstance(options, VerdictOptions) else None
    if band is not None and not parts.pipeline.decides:
        why = "judges give probabilities in the profiles frugal and small alone"
        log.warning("the tie band of a judge has no effect", judge=name, why=why)


async def _members(
    parts: Parts, llm: LLMSettings, options: Options | None, opened: AsyncExitStack
) -> list[Asked]:
    """The models of an evaluator, each with a client: those of its table, or the configured one."""
    if options is None or not options.models:
        return [await _member(parts, "", llm, opened)]
    asked = []
    for model in options.models:
        # Offline a model has a name of its own, so that every one is asked.
        name = f"{OFFLINE_MODEL}:{model.model}" if llm.offline else model.model
        own = llm.of_model(name)
        asked.append(await _member(parts, model.name, own, opened))
    return asked


async def _member(parts: Parts, name: str, llm: LLMSettings, opened: AsyncExitStack) -> Asked:
    model = await opened.enter_async_context(open_chat_model(parts, llm))
    decider = await opened.enter_async_context(open_decision_model(parts, llm))
    return Member(model, decider, name), decider or model


def _unlimited(llm: LLMSettings) -> LLMSettings:
    """The settings without a budget per battle."""
    return llm.model_copy(update={"battle_tokens": None, "battle_money": None})
