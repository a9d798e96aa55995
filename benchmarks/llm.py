"""What the model's part of a battle costs: calls, tokens, money and seconds.

    NUGGETSTREAM_DATA=... python -m benchmarks.llm [--battles 50] [--at-once 8] [--only live paper]

Battles of CrowdRAG-25, spread over its topics, with up to 50 chunks of the documents that the answers cite.
The handlers of the nuggetizer, the assigner and the judge run as they do in the services, against the offline
model in another process, which takes 0.5 s for a call and 5 ms for a token of the reply and simulates a
provider's prompt cache. Every variant has a model of its own, so that nothing is cached from the one before.
"Ratio" is the money beside the first variant, "recall" the share of its nuggets that the variant's nuggets
state, and "same" the share of battles for which the nuggets of both prefer the same answer.
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.cpu import offline_model
from benchmarks.offline_agreement import chunks, load
from nuggetstream.domain.battle import Answer, Battle, Vote
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized, BattleRetrieved
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.identity import derived_id
from nuggetstream.nuggets.scores import nugget_margin, preference, tie_threshold
from services.assigner.stage import Assigner
from services.judge.stage import Judge
from services.nuggetizer.stage import Nuggetizer, Profile
from services.offline.heuristics import Label, assign
from services.runtime.errors import StageError
from services.runtime.llm.accounting import Entry, MemorySpendStore
from services.runtime.llm.build import build_chat_model
from services.runtime.llm.client import LLMClient
from services.runtime.llm.prices import OFFLINE_MODEL, Price, Tokens
from services.runtime.llm.settings import LLMSettings

LATENCY_S, PER_TOKEN_S = 0.5, 0.005
# Per million tokens; the proportions are those of many providers.
PRICE = Price(input=Decimal("0.40"), cached_input=Decimal("0.10"), output=Decimal("1.60"))
FETCHED = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Variant:
    """One way to evaluate a battle: settings of the nuggetizer, the assigner and the judge."""

    nuggetizer: Mapping[str, Any] = field(default_factory=dict)
    assigner: Mapping[str, Any] = field(default_factory=dict)
    judge: Mapping[str, Any] = field(default_factory=dict)


VARIANTS = {
    "live": Variant(),
    "live, 20 chunks": Variant({"passages": 20}),
    "live, 10 chunks": Variant({"passages": 10}),
    "live, 5 chunks": Variant({"passages": 5}),
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
    """What one variant cost, and what it found."""

    entries: Sequence[Entry]
    seconds: Sequence[float]
    assigned: Mapping[str, BattleAssigned]
    failures: int


def battles(folder: Path, count: int) -> list[BattleRetrieved]:
    """So many battles, evenly spread over the file, each with its evidence."""
    passages = {document["docid"]: document["text"] for document in load(folder / "documents.jsonl.gz")}
    rows = list(load(folder / "battles.jsonl.gz"))
    return [retrieved(row, passages) for row in rows[:: max(1, len(rows) // count)][:count]]


def retrieved(row: dict[str, Any], passages: dict[str, str]) -> BattleRetrieved:
    """A battle as the retriever passes it on."""
    a, b = (Answer(row[side]["system"], row[side]["text"]) for side in ("a", "b"))
    evidence = tuple(
        Evidence(
            chunk_id=derived_id("chunk", text),
            text=text,
            url=f"https://documents.example/{number}",
            title=None,
            content_hash=derived_id("content", text),
            fetched_at=FETCHED,
            cited_by=(),
            score=1.0 / (1 + number),
        )
        for number, text in enumerate(chunks(row, passages))
    )
    battle = Battle(id=row["battle_id"], arena="bench", query=row["query"], a=a, b=b, language="en")
    return BattleRetrieved(derived_id("retrieved", battle.id), battle, (), evidence, "bm25")


async def evaluate(event: BattleRetrieved, model: LLMClient, variant: Variant) -> BattleAssigned:
    """Nuggets and assignment, and the judge beside them, as in the flow."""

    async def nuggets() -> BattleAssigned:
        [made] = await Nuggetizer(model, **variant.nuggetizer)(event)
        assert isinstance(made, BattleNuggetized)
        [assigned] = await Assigner(model, **variant.assigner)(made)
        assert isinstance(assigned, BattleAssigned)
        return assigned

    assigned, _ = await asyncio.gather(nuggets(), Judge(model, **variant.judge)(event))
    return assigned


async def run(variant: Variant, events: Sequence[BattleRetrieved], url: str, at_once: int) -> Result:
    """All battles, so many at once."""
    settings = LLMSettings(
        api_key=SecretStr("none"), base_url=url, model=OFFLINE_MODEL, concurrency=64, battle_tokens=None
    )
    spend, seconds, failures = Entries(), list[float](), 0
    found: dict[str, BattleAssigned] = {}
    model, free = build_chat_model(settings, spend=spend), asyncio.Semaphore(at_once)

    async def one(event: BattleRetrieved) -> None:
        nonlocal failures
        async with free:
            began = time.perf_counter()
            try:
                found[event.battle.id] = await evaluate(event, model, variant)
            except StageError as error:
                failures += 1
                print(f"{event.battle.id}: {error}")
            seconds.append(time.perf_counter() - began)

    await asyncio.gather(*map(one, events))
    await model.close()
    return Result(spend.kept, seconds, found, failures)


def verdict(assigned: BattleAssigned) -> Vote:
    """Which answer the nuggets prefer, as the rater decides it."""
    margin = nugget_margin(assigned.nugget_list.nuggets, assigned.assignment_set.assignments)
    return preference(margin, 0.0, tie_threshold(assigned.battle))


def recalled(whole: BattleAssigned, part: BattleAssigned) -> float:
    """The share of one list's nuggets that another list states."""
    facts = [nugget.text for nugget in whole.nugget_list.nuggets]
    stated = "\n".join(nugget.text for nugget in part.nugget_list.nuggets)
    labels = assign(whole.battle.query, facts, stated, embed=None)
    return statistics.fmean(label.label is Label.SUPPORT for label in labels)


def row_of(name: str, result: Result, first: Result) -> str:
    """One line of the table: means per battle."""
    count = len(result.seconds)
    total = sum((entry.tokens for entry in result.entries), Tokens())
    money = PRICE.of(total) / count * 1000
    base = PRICE.of(sum((entry.tokens for entry in first.entries), Tokens())) / count * 1000
    shared = result.assigned.keys() & first.assigned.keys()
    recall = statistics.fmean(
        recalled(first.assigned[battle], result.assigned[battle]) for battle in sorted(shared)
    )
    same = sum(verdict(result.assigned[battle]) is verdict(first.assigned[battle]) for battle in shared)
    return (
        f"{name:<26}{len(result.entries) / count:6.1f}{total.input / count:9.0f}"
        f"{total.cached_input / count:8.0f}{total.output / count:7.0f}"
        f"{statistics.median(result.seconds):8.2f}{money:9.3f}"
        f"{float(money / base):7.2f}{recall:8.3f}{same / len(shared):8.2f}"
    )


def stages_of(result: Result) -> str:
    """Tokens of each stage per battle."""
    count, parts = len(result.seconds), []
    for stage in sorted({entry.stage for entry in result.entries}):
        tokens = sum((entry.tokens for entry in result.entries if entry.stage == stage), Tokens())
        parts.append(
            f"{stage} {tokens.input / count:.0f} in, {tokens.cached_input / count:.0f} cached, "
            f"{tokens.output / count:.0f} out"
        )
    return "; ".join(parts)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--battles", type=int, default=50, help="how many battles")
    options.add_argument("--at-once", type=int, default=8, help="battles at the same time")
    options.add_argument("--only", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    chosen = options.parse_args()
    if "NUGGETSTREAM_DATA" not in os.environ:
        raise SystemExit("Set NUGGETSTREAM_DATA to the folder that holds crowdrag25/.")
    events = battles(Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25", chosen.battles)
    print(f"{len(events)} battles, {statistics.fmean(len(e.evidence) for e in events):.1f} chunks each")
    print(
        f"{'per battle':<26}{'calls':>6}{'in':>9}{'cached':>8}{'out':>7}{'s':>8}{'money/1k':>9}{'ratio':>7}"
        f"{'recall':>8}{'same':>8}"
    )
    first: Result | None = None
    for name in chosen.only:
        with offline_model("--latency", str(LATENCY_S), "--latency-per-token", str(PER_TOKEN_S)) as url:
            result = asyncio.run(run(VARIANTS[name], events, url, chosen.at_once))
        first = first or result
        print(row_of(name, result, first))
        print(f"    {stages_of(result)}")


if __name__ == "__main__":
    main()
