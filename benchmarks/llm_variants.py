"""The live and the paper profile on battles of CrowdRAG-25, for `llm.py`.

The handlers of the nuggetizer, the assigner and the judge run as they do in the services, against an endpoint
whose address is given. Every run has a model of its own, so that nothing is cached from the one before.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import SecretStr

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized, BattleRetrieved
from nuggetstream.nuggets.scores import nugget_margin, preference, tie_threshold
from services.assigner.shared_labels import SharedLabels
from services.assigner.stage import Assigner
from services.cli.wiring.settings import PipelineSettings
from services.judge.asking import Member
from services.judge.registry import EVALUATORS
from services.judge.stage import Panel
from services.nuggetizer.bank import NuggetBank
from services.nuggetizer.stage import Nuggetizer, Profile
from services.runtime.errors import StageError
from services.runtime.llm.accounting import Entry, MemorySpendStore
from services.runtime.llm.batches.transport import Batches
from services.runtime.llm.build import build_chat_model
from services.runtime.llm.client import LLMClient
from services.runtime.llm.prices import OFFLINE_MODEL, Price, Tokens
from services.runtime.llm.settings import LLMSettings
from services.store.content.nugget_banks import NuggetLabels, NuggetLists
from services.store.database import Database
from services.store.migrate import upgrade

# Per million tokens; the proportions are those of many providers.
PRICE = Price(input=Decimal("0.40"), cached_input=Decimal("0.10"), output=Decimal("1.60"))


@dataclass(frozen=True)
class Variant:
    """One way to evaluate a battle: settings of the nuggetizer, the assigner and the judge.

    With `shares`, battles with the same query and evidence share their lists and labels; with `decides`,
    labels and verdicts are decisions; with `batched`, all battles are evaluated at once, and their calls wait
    for batches; with `reordered`, the evidence is read in another order.
    """

    nuggetizer: Mapping[str, Any] = field(default_factory=dict)
    assigner: Mapping[str, Any] = field(default_factory=dict)
    judge: Mapping[str, Any] = field(default_factory=dict)
    shares: bool = False
    decides: bool = False
    batched: bool = False
    reordered: bool = False


_DEFAULT = PipelineSettings(profile="live")
_NUGGETS: Mapping[str, Any] = {"characters": _DEFAULT.excerpted()}
_JUDGE: Mapping[str, Any] = {"characters": _DEFAULT.excerpted(2)}
LIVE = Variant(_NUGGETS, judge=_JUDGE)

VARIANTS = {
    "live, all evidence": Variant(),
    "live, excerpts for nuggets": Variant(_NUGGETS),
    "live, excerpts for judge": Variant(judge=_JUDGE),
    "live": LIVE,
    "live, another order": replace(LIVE, reordered=True),
    "live, in batches": Variant(_NUGGETS, judge=_JUDGE, batched=True),
    "live, 12,000 characters": Variant({"characters": 12_000}, judge=_JUDGE),
    "live, labels in two parts": Variant(_NUGGETS, {"window": 7}, _JUDGE),
    "frugal": Variant(_NUGGETS, judge=_JUDGE, decides=True),
    "paper": Variant({"profile": Profile.PAPER}, {"window": 10}, {"both_orders": False}),
}


class Entries(MemorySpendStore):
    """A spend store that keeps the entries."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Entry] = []

    async def add(self, entry: Entry) -> None:
        """Keep the entry."""
        self.kept.append(entry)
        await super().add(entry)


@dataclass(frozen=True)
class Result:
    """What one way to evaluate the battles cost, and what it found.

    Attributes:
        calls: Stage and tokens of every call.
        seconds: How long each battle took.
        preferred: The answer that the nuggets prefer, by battle.
        price: What the calls cost.
    """

    calls: Sequence[tuple[str, Tokens]]
    seconds: Sequence[float]
    preferred: Mapping[str, Vote]
    price: Price = PRICE

    @property
    def battles(self) -> int:
        """Number of battles."""
        return len(self.seconds)

    @property
    def tokens(self) -> Tokens:
        """Tokens of all calls."""
        return sum((tokens for _, tokens in self.calls), Tokens())

    @property
    def money(self) -> float:
        """Money for a thousand battles."""
        return float(self.price.of(self.tokens)) / self.battles * 1000


# On battles of whole topics, where the same answers meet several times.
WHOLE_TOPICS = {"live": LIVE, "live, shared lists": Variant(_NUGGETS, judge=_JUDGE, shares=True)}


def judge_of(model: LLMClient, variant: Variant, decisions: LLMClient | None = None) -> Panel:
    """The judge of a variant, for which battles wait."""
    return Panel(EVALUATORS["pairwise"], [Member(model, decisions)], awaited=True, **variant.judge)


async def evaluate(event: BattleRetrieved, model: LLMClient, variant: Variant) -> BattleAssigned:
    """Nuggets and assignment, and the judge beside them, as in the flow."""

    async def nuggets() -> BattleAssigned:
        [made] = await Nuggetizer(model, **variant.nuggetizer)(event)
        assert isinstance(made, BattleNuggetized)
        [assigned] = await Assigner(model, decisions=decisions, **variant.assigner)(made)
        assert isinstance(assigned, BattleAssigned)
        return assigned

    decisions = model if variant.decides else None
    judge = judge_of(model, variant, decisions)
    assigned, _ = await asyncio.gather(nuggets(), judge(event))
    return assigned


@asynccontextmanager
async def with_stores(variant: Variant) -> AsyncIterator[Variant]:
    """The variant with the stores of shared lists and labels, where it shares them."""
    if not variant.shares:
        yield variant
        return
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite+aiosqlite:///{folder}/lists.db")
        await upgrade(database)
        bank, labels = NuggetBank(NuggetLists(database)), SharedLabels(NuggetLabels(database))
        yield Variant(
            {**variant.nuggetizer, "bank": bank}, {**variant.assigner, "shared": labels}, variant.judge
        )
        await database.close()


async def run(variant: Variant, events: Sequence[BattleRetrieved], url: str, at_once: int) -> Result:
    """All battles, so many at once."""
    if variant.reordered:
        events = [
            replace(each, evidence=tuple(sorted(each.evidence, key=lambda chunk: chunk.content_hash)))
            for each in events
        ]
    async with with_stores(variant) as stored:
        return await run_with(stored, events, url, at_once)


async def run_with(variant: Variant, events: Sequence[BattleRetrieved], url: str, at_once: int) -> Result:
    """All battles, with the stores of the variant."""
    settings = LLMSettings(
        api_key=SecretStr("none"),
        base_url=url,
        model=OFFLINE_MODEL,
        concurrency=64,
    )
    if variant.batched:
        with TemporaryDirectory() as folder:
            batches = Batches(Path(folder), lambda _: None, quiet_s=1.0, poll_s=0.2)
            async with batches.running():
                spend = Entries()
                model = build_chat_model(settings, spend=spend, http=batches.http(settings), batched=True)
                result = await measured(variant, events, model, spend, len(events))
                return replace(result, price=PRICE.in_batches())
    spend = Entries()
    return await measured(variant, events, build_chat_model(settings, spend=spend), spend, at_once)


async def measured(
    variant: Variant, events: Sequence[BattleRetrieved], model: LLMClient, spend: Entries, at_once: int
) -> Result:
    """All battles by one model, which is closed then."""
    seconds, free = list[float](), asyncio.Semaphore(at_once)
    found: dict[str, BattleAssigned] = {}

    async def one(event: BattleRetrieved) -> None:
        async with free:
            began = time.perf_counter()
            try:
                found[event.battle.id] = await evaluate(event, model, variant)
            except StageError as error:
                print(f"{event.battle.id}: {error}")
            seconds.append(time.perf_counter() - began)

    await asyncio.gather(*map(one, events))
    await model.close()
    return Result(
        calls=[(entry.stage, entry.tokens) for entry in spend.kept],
        seconds=seconds,
        preferred={name: verdict(each) for name, each in found.items()},
    )


def verdict(assigned: BattleAssigned) -> Vote:
    """Which answer the nuggets prefer, as the rater decides it."""
    margin = nugget_margin(assigned.nugget_list.nuggets, assigned.assignment_set.assignments)
    return preference(margin, 0.0, tie_threshold(assigned.battle))
