"""`nuggetstream eval --dry-run`: what the model calls of a file would cost, before anything is paid.

A sample of the battles is evaluated as in a real run, pages fetched and prompts written, in a temporary
folder and by the offline model. The tokens of its calls are multiplied to the whole file and priced as the
configured model.
"""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

from services.cli.embedded import Choices, embedded
from services.cli.evaluation import Evaluation, Progress
from services.cli.kept_lines import KeptLine
from services.runtime.llm.prices import OFFLINE_MODEL, PriceTable, Tokens
from services.store.spend import DatabaseSpendStore
from services.wire.graders import GRADER_PREFIX

SAMPLE = 50  # battles
_UNSET = (
    "api_key", "base_url", "fallback_base_url", "model", "temperature", "effort", "prices",
    "battle_tokens", "battle_money", "day_tokens", "day_money",
)  # fmt: skip
_OFFLINE: dict[str, object] = {**dict.fromkeys(_UNSET), "stages": {}}
_NO_TOKENS = Tokens()
_NORMAL = 1.96  # standard errors on either side of a 95% interval


@dataclass(frozen=True, slots=True)
class StageCalls:
    """The model calls of one stage; `model` is that of a panel's member, None for the configured one."""

    calls: int = 0
    tokens: Tokens = _NO_TOKENS
    model: str | None = None

    def __add__(self, other: "StageCalls") -> "StageCalls":
        return StageCalls(self.calls + other.calls, self.tokens + other.tokens, other.model)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a file of battles would cost.

    Attributes:
        battles: Number of battles in the file.
        sample: The calls of each battle that was evaluated, by stage.
        model: Name of the configured model.
        prices: The operator's prices.
        batched: Whether they are those of batches.
    """

    battles: int
    sample: Sequence[Mapping[str, StageCalls]]
    model: str
    prices: PriceTable
    batched: bool = False

    def by_stage(self) -> dict[str, StageCalls]:
        """Calls and tokens of the whole file."""
        found: dict[str, StageCalls] = {}
        for battle in self.sample:
            for stage, calls in battle.items():
                found[stage] = found.get(stage, StageCalls()) + calls
        return {stage: self._scaled(calls) for stage, calls in found.items()}

    def money(self) -> tuple[float, float] | None:
        """Cost of the whole file and the half width of its 95% interval; None where a model has no price.

        The interval is that of a sample without replacement; 0 where all battles were evaluated.
        """
        if self._unpriced():
            return None
        costs = [sum(map(self._cost, battle.values())) for battle in self.sample]
        drawn = len(costs)
        if drawn < 2 or drawn == self.battles:
            return fmean(costs) * self.battles, 0.0
        error = stdev(costs) / sqrt(drawn) * sqrt(1 - drawn / self.battles)
        return fmean(costs) * self.battles, _NORMAL * error * self.battles

    def lines(self) -> Iterator[str]:
        """The estimate in words and numbers."""
        drawn = len(self.sample)
        which = (
            f"{drawn} of {self.battles} battles, drawn at random," if drawn < self.battles else "All battles"
        )
        yield f"Nothing was paid. {which} were evaluated by the offline model."
        if silent := sum(not battle for battle in self.sample):
            yield f"{silent} of them ended before any call and count as free; a real run may differ."
        stages = self.by_stage()
        width = max(12, *(len(stage) + 1 for stage in stages), 12)
        yield f"{'':<{width}}{'calls':>12}{'tokens in':>16}{'tokens out':>14}"
        whole = sum(stages.values(), StageCalls())
        for stage, calls in [*sorted(stages.items()), ("together", whole)]:
            yield f"{stage:<{width}}{calls.calls:>12,}{calls.tokens.input:>16,}{calls.tokens.output:>14,}"
        yield self._price_line()
        yield (
            "Tokens are estimated, one per four bytes, and replies are as long as the offline model's: "
            "a model that reasons writes more. Calls that are repeated or discarded, and savings by a prompt "
            "cache or by nugget lists that battles share, are not included."
        )

    def _price_line(self) -> str:
        money = self.money()
        if money is None:
            names = ", ".join(self._unpriced() or [self.model])
            return f"Cost with {names}: unknown. Set NUGGETSTREAM_LLM_PRICES to a file with its price."
        amount, margin = money
        span = f" (95% interval {max(0.0, amount - margin):.2f} to {amount + margin:.2f})" if margin else ""
        how = " in batches" if self.batched else ""
        return f"Cost with {', '.join(self._models())}{how}: {amount:.2f} {self.prices.currency}{span}"

    def _scaled(self, calls: StageCalls) -> StageCalls:
        factor = self.battles / len(self.sample)
        tokens = calls.tokens
        return StageCalls(
            round(calls.calls * factor),
            Tokens(round(tokens.input * factor), round(tokens.output * factor)),
            calls.model,
        )

    def _models(self) -> list[str]:
        """The models that are asked, each once."""
        asked = (calls.model for battle in self.sample for calls in battle.values())
        return list(dict.fromkeys([self.model, *filter(None, asked)]))

    def _unpriced(self) -> list[str]:
        return [model for model in self._models() if self.prices.price_of(model) is None]

    def _cost(self, calls: StageCalls) -> float:
        price = self.prices.price_of(calls.model or self.model)
        return 0.0 if price is None else float(price.of(calls.tokens))


async def estimate(
    lines: Sequence[KeptLine],
    choices: Choices,
    report: Callable[[Progress], None],
    stop: asyncio.Event,
    *,
    batched: bool = False,
) -> Estimate | None:
    """Evaluate a sample with the offline model and see what it asked for.

    Args:
        lines: The battles of the file.
        choices: The configuration; its folder is not used.
        report: Called with the progress.
        stop: Ends the run early.
        batched: Whether the price of batches is that of the estimate.

    Returns:
        The estimate; None when it was stopped, or when no battle of the sample could be evaluated.
    """
    sample = random.Random(0).sample(list(lines), min(SAMPLE, len(lines)))  # noqa: S311 - not a secret
    prices, model = choices.llm.price_table(), choices.llm.model_name
    prices = prices.of_batches() if batched else prices
    with TemporaryDirectory(prefix="nuggetstream-dry-run-") as folder:
        # A sample has fewer battles with the same query and evidence than the file.
        pipeline = choices.pipeline.model_copy(update={"nugget_bank_hours": 0.0})
        llm = choices.llm.model_copy(update=_OFFLINE)
        offline = replace(choices, folder=Path(folder), pipeline=pipeline, llm=llm)
        async with embedded(offline) as platform:
            evaluation = Evaluation(platform=platform, lines=sample, report=report, stop=stop)
            if not await evaluation.run():
                return None
            spend = DatabaseSpendStore(platform.database)
            own = {name: stage.model for name, stage in choices.llm.stages.items()}
            found = [await _calls_of(spend, battle_id, own) for battle_id in evaluation.accepted]
    return Estimate(len(lines), found, model, prices, batched) if found else None


async def _calls_of(
    spend: DatabaseSpendStore, battle_id: str, own: Mapping[str, str | None]
) -> dict[str, StageCalls]:
    """The calls of a battle; `own` has the model of each stage that has its own."""
    stages = await spend.of_battle_by_stage(battle_id)
    found: dict[str, StageCalls] = {}
    for entry in stages:
        member = entry.model.partition(f"{OFFLINE_MODEL}:")[2] or None
        name = entry.stage if member is None else f"{entry.stage} {member}"
        tokens = Tokens(entry.spend.tokens.input, entry.spend.tokens.output)
        model = member or own.get(entry.stage.removeprefix(GRADER_PREFIX))
        found[name] = found.get(name, StageCalls()) + StageCalls(entry.spend.calls, tokens, model)
    return found
