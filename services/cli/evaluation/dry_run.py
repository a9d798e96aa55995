"""`nuggetstream eval --dry-run`: what the model calls of a file would cost, before anything is paid.

A sample of the battles is evaluated as in a real run, pages fetched and prompts written, in a temporary
folder and by the offline model; the embedding model and the reranker have stand-ins in this process, too. The
tokens of their calls are multiplied to the whole file and priced as the configured models.
"""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

from nuggetstream.domain.pipeline import Stage
from services.cli.evaluation.kept_lines import KeptLine
from services.cli.evaluation.run import Evaluation, Progress
from services.cli.wiring.dry_run_endpoints import (
    dry_run_endpoints,
    offline_embedding,
    offline_llm,
    offline_retrieval,
    own_models,
    unarchived,
)
from services.cli.wiring.embedded import Choices, embedded
from services.runtime.llm.prices import OFFLINE_MODEL, PriceTable, Tokens
from services.store.spend.costs import Costs
from services.wire.evaluators import GRADER_PREFIX

SAMPLE = 50  # battles
_EMBEDS, _RERANKS = Stage.INDEXER.value, Stage.RETRIEVER.value
_NO_TOKENS = Tokens()
_BATTLES = "battles"
_NORMAL = 1.96  # standard errors on either side of a 95% interval


@dataclass(frozen=True, slots=True)
class StageCalls:
    """The model calls of one stage.

    Attributes:
        calls: Number of calls.
        tokens: Their tokens.
        model: Name of the model, such as that of a panel's member; None for the configured chat model.
        is_chat: Whether it is a chat model, of which alone calls can be made in batches.
    """

    calls: int = 0
    tokens: Tokens = _NO_TOKENS
    model: str | None = None
    is_chat: bool = True

    def __add__(self, other: "StageCalls") -> "StageCalls":
        return replace(other, calls=self.calls + other.calls, tokens=self.tokens + other.tokens)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a file of battles would cost.

    Attributes:
        battles: Number of battles in the file.
        sample: The calls of each battle that was evaluated, by stage.
        model: Name of the configured model.
        prices: The operator's prices.
        batched: Whether chat models are asked in batches, at their price.
        notes: What the numbers lack, in sentences.
        unit: What was drawn in place of battles, as a plural.
        fixed: Calls that were counted for the whole file, and are not multiplied.
    """

    battles: int
    sample: Sequence[Mapping[str, StageCalls]]
    model: str
    prices: PriceTable
    batched: bool = False
    notes: Sequence[str] = ()
    unit: str = _BATTLES
    fixed: Mapping[str, StageCalls] = field(default_factory=dict)

    def by_stage(self) -> dict[str, StageCalls]:
        """Calls and tokens of the whole file."""
        stage_calls: dict[str, StageCalls] = {}
        for battle in self.sample:
            for stage, calls in battle.items():
                stage_calls[stage] = stage_calls.get(stage, StageCalls()) + calls
        scaled = {stage: self._scaled(calls) for stage, calls in stage_calls.items()}
        return scaled | {
            stage: scaled.get(stage, StageCalls()) + calls for stage, calls in self.fixed.items()
        }

    def money(self) -> tuple[float, float] | None:
        """Cost of the whole file and the half width of its 95% interval; None where a model has no price."""
        return None if self._unpriced() else self._priced_part()

    def _priced_part(self) -> tuple[float, float]:
        """The same, of the models that have a price.

        The interval is that of a sample without replacement; 0 where all battles were evaluated.
        """
        costs = [sum(map(self._cost, battle.values())) for battle in self.sample]
        drawn, whole = len(costs), fmean(costs) * self.battles + sum(map(self._cost, self.fixed.values()))
        if drawn < 2 or drawn == self.battles:
            return whole, 0.0
        error = stdev(costs) / sqrt(drawn) * sqrt(1 - drawn / self.battles)
        return whole, _NORMAL * error * self.battles

    def lines(self) -> Iterator[str]:
        """The estimate in words and numbers."""
        drawn = len(self.sample)
        which = (
            f"{drawn} of {self.battles} {self.unit}, drawn at random,"
            if drawn < self.battles
            else f"All {self.unit}"
        )
        yield f"Nothing was paid. {which} were evaluated by the offline model."
        if silent := sum(not any(calls.is_chat for calls in battle.values()) for battle in self.sample):
            yield f"{silent} of them ended before any call of a chat model; a real run may differ."
        stages = self.by_stage()
        width = max(12, *(len(stage) + 1 for stage in stages), 12)
        yield f"{'':<{width}}{'calls':>12}{'tokens in':>16}{'tokens out':>14}"
        whole = sum(stages.values(), StageCalls())
        for stage, calls in [*sorted(stages.items()), ("together", whole)]:
            yield f"{stage:<{width}}{calls.calls:>12,}{calls.tokens.input:>16,}{calls.tokens.output:>14,}"
        yield from self._price_lines()
        shared = " or by nugget lists that battles share" if self.unit == _BATTLES else ""
        yield (
            "Tokens are estimated, one per four bytes, and replies are as long as the offline model's: "
            "a model that reasons writes more. Calls that are repeated or discarded, and savings by a prompt "
            f"cache{shared}, are not included."
        )
        if self.batched and not all(calls.is_chat for calls in stages.values()):
            yield "Only chat models are asked in batches; calls of other models are priced as usual."
        yield from self.notes

    def _price_lines(self) -> Iterator[str]:
        """What the models with a price cost, and which models have none."""
        unpriced = self._unpriced()
        priced = [model for model in self._models() if model not in unpriced]
        if priced:
            amount, margin = self._priced_part()
            low, high = max(0.0, amount - margin), amount + margin
            span = f" (95% interval {low:.2f} to {high:.2f})" if margin else ""
            how = " in batches" if self.batched else ""
            yield f"Cost with {', '.join(priced)}{how}: {amount:.2f} {self.prices.currency}{span}"
        if unpriced:
            added = ", and to be added" if priced else ""
            yield (
                f"Cost with {', '.join(unpriced)}: unknown{added}. "
                "Set NUGGETSTREAM_LLM_PRICES to a file with its price."
            )

    def _scaled(self, calls: StageCalls) -> StageCalls:
        factor = self.battles / len(self.sample)
        tokens = calls.tokens
        return replace(
            calls,
            calls=round(calls.calls * factor),
            tokens=Tokens(round(tokens.input * factor), round(tokens.output * factor)),
        )

    def _models(self) -> list[str]:
        """The models that are asked, each once."""
        asked = (calls.model for battle in self.sample for calls in battle.values())
        return list(dict.fromkeys([self.model, *filter(None, asked)]))

    def _unpriced(self) -> list[str]:
        return [model for model in self._models() if self.prices.price_of(model) is None]

    def _cost(self, calls: StageCalls) -> float:
        prices = self.prices.of_batches() if self.batched and calls.is_chat else self.prices
        price = prices.price_of(calls.model or self.model)
        return 0.0 if price is None else float(price.of(calls.tokens))


async def estimate(
    lines: Sequence[KeptLine],
    choices: Choices,
    report: Callable[[Progress], None],
    stop: asyncio.Event,
    *,
    batched: bool = False,
) -> Estimate | None:
    """Evaluate a sample with the offline model and see what it asked for. No endpoint of a model is called.

    Args:
        lines: The battles of the file.
        choices: The configuration; its folder is not used.
        report: Called with the progress.
        stop: Ends the run early.
        batched: Whether chat models would be asked in batches.

    Returns:
        The estimate; None when it was stopped, or when no battle of the sample could be evaluated.
    """
    sample = random.Random(0).sample(list(lines), min(SAMPLE, len(lines)))  # noqa: S311 - not a secret
    prices, model = choices.llm.price_table(), choices.llm.model_name
    with TemporaryDirectory(prefix="nuggetstream-dry-run-") as folder:
        async with embedded(_offline(choices, Path(folder))) as platform:

            def free(progress: Progress) -> None:  # although the offline platform has no price for them
                report(replace(progress, cost=Decimal(0)))

            evaluation = Evaluation(platform=platform, lines=sample, report=free, stop=stop)
            if not await evaluation.run():
                return None
            costs = Costs(platform.database)
            calls = [await _calls_of(costs, battle_id, choices) for battle_id in evaluation.accepted]
    if not calls:
        return None
    return Estimate(
        battles=len(lines),
        sample=calls,
        model=model,
        prices=prices,
        batched=batched,
        notes=list(_notes(choices, calls)),
    )


def _offline(choices: Choices, folder: Path) -> Choices:
    """The configuration with everything in a folder and in this process, except that pages are fetched."""
    # A sample has fewer battles with the same query and evidence than the file.
    pipeline = choices.pipeline.model_copy(update={"nugget_bank_hours": 0.0})
    return replace(
        choices,
        folder=folder,
        pipeline=pipeline,
        fetch=unarchived(choices.fetch),
        llm=offline_llm(choices.llm),
        embedding=offline_embedding(choices.embedding),
        retrieval=offline_retrieval(choices.retrieval),
        dry_run=dry_run_endpoints(choices.llm),
    )


async def _calls_of(costs: Costs, battle_id: str, choices: Choices) -> dict[str, StageCalls]:
    """The calls of a battle that endpoints would answer, with their models."""
    own, by_stage = own_models(choices.llm), dict[str, StageCalls]()
    asked = {_EMBEDS: _remote_embedder(choices), _RERANKS: _remote_reranker(choices)}
    for entry in await costs.of_battle(battle_id):
        is_chat = entry.model == OFFLINE_MODEL or entry.model.startswith(f"{OFFLINE_MODEL}:")
        if not is_chat and entry.model != asked.get(entry.stage):
            continue  # of a model that runs in the process, which costs nothing
        named = entry.model.removeprefix(OFFLINE_MODEL).removeprefix(":") or None
        name = entry.stage if named is None else f"{entry.stage} {named}"
        tokens = Tokens(entry.input_tokens, entry.output_tokens)
        model = named or own.get(entry.stage.removeprefix(GRADER_PREFIX))
        calls = StageCalls(entry.calls, tokens, model, is_chat)
        by_stage[name] = by_stage.get(name, StageCalls()) + calls
    return by_stage


def _remote_embedder(choices: Choices) -> str | None:
    """Name of the embedding model behind a URL; None where there is none."""
    asked = choices.embedding.is_remote and choices.pipeline.has_embedder
    return choices.pipeline.embedding_model if asked else None


def _remote_reranker(choices: Choices) -> str | None:
    """Name of the reranker behind a URL; None where there is none."""
    return None if choices.retrieval.rerank_url is None else choices.retrieval.rerank_model


def _notes(choices: Choices, sample: Sequence[Mapping[str, StageCalls]]) -> Iterator[str]:
    """What the numbers lack because no embedding model and no reranker was asked."""
    embedder, reranker = _remote_embedder(choices), _remote_reranker(choices)
    if choices.pipeline.has_embedder or choices.retrieval.rerank_model is not None:
        yield (
            "Passages were ranked by their words, not by the configured models, so a real run may show the "
            "model other passages."
        )
    if embedder is not None:
        yield (
            f"A call of {embedder} for several battles counts once for each. Texts whose vectors are stored "
            "already are embedded here as if they were not."
        )
    if reranker is not None:
        yield (
            f"{reranker} is priced by its tokens: for a provider that charges per search, its price has to "
            "be the one per million tokens that corresponds."
        )
    made = {calls.model for battle in sample for calls in battle.values()}
    for model in filter(None, (embedder, reranker)):
        if model not in made:
            yield f"The sample needed no call of {model}, so what it costs for the file is unknown."
