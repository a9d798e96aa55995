"""How much do shared nugget lists change the agreement with people?

    NUGGETSTREAM_DATA=... python -m benchmarks.bank_agreement [--limit 100] [--characters 12000]

The battles of CrowdRAG-25 with what their answers cite go through the handlers of nuggetizer and assigner,
with the offline model (words alone), once with a list for every battle and once with nugget banks as in
`eval`. Prints the model calls of both, and their agreement with the gold labels as `offline_agreement.py`
computes it.
"""

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.llm_battles import retrieved
from benchmarks.llm_variants import Entries
from benchmarks.offline_agreement import DIMENSIONS, TIE, Outcome, agreement, chunks, interval, load
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized
from nuggetstream.nuggets.scores import nugget_margin
from services.assigner.shared_labels import SharedLabels
from services.assigner.stage import Assigner
from services.nuggetizer.bank import NuggetBank
from services.nuggetizer.stage import Nuggetizer
from services.offline.app import create_app
from services.runtime.llm.build import build_chat_model, with_asgi
from services.runtime.llm.settings import LLMSettings
from services.store.content.nugget_banks import NuggetLabels, NuggetLists
from services.store.database import Database
from services.store.migrate import upgrade

AT_ONCE = 8


@dataclass(frozen=True)
class Stores:
    """What battles share; None where each has its own."""

    lists: NuggetBank | None = None
    labels: SharedLabels | None = None


@asynccontextmanager
async def banks() -> AsyncIterator[Stores]:
    """Empty banks."""
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite+aiosqlite:///{folder}/lists.db")
        await upgrade(database)
        yield Stores(NuggetBank(NuggetLists(database)), SharedLabels(NuggetLabels(database)))
        await database.close()


async def outcomes(
    rows: Sequence[dict[str, Any]], passages: dict[str, str], stores: Stores, characters: int | None
) -> tuple[list[Outcome], Counter[str]]:
    """What the nuggets prefer in each battle, and the model calls by stage."""
    spend, free = Entries(), asyncio.Semaphore(AT_ONCE)
    settings = LLMSettings(api_key=None, base_url=None, model=None)
    model = build_chat_model(settings, spend=spend, http=with_asgi(create_app(None)))
    nuggetizer = Nuggetizer(model, characters=characters, bank=stores.lists)
    assigner = Assigner(model, shared=stores.labels)

    async def one(row: dict[str, Any]) -> Outcome:
        async with free:
            [made] = await nuggetizer(retrieved(row, chunks(row, passages)))
            assert isinstance(made, BattleNuggetized)
            [assigned] = await assigner(made)
        assert isinstance(assigned, BattleAssigned)
        margin = nugget_margin(assigned.nugget_list.nuggets, assigned.assignment_set.assignments)
        return Outcome(row["topic"], row["gold"], {"all": margin}, {"all": TIE}, (0.0, 0.0))

    found = await asyncio.gather(*map(one, rows))
    await model.close()
    return found, Counter(entry.stage for entry in spend.kept)


async def compare(folder: Path, limit: int | None, characters: int | None) -> None:
    """Print one line for lists of their own and one for shared lists."""
    passages = {document["docid"]: document["text"] for document in load(folder / "documents.jsonl.gz")}
    rows = list(load(folder / "battles.jsonl.gz"))[:limit]
    print(f"{len(rows)} battles\n{'':<14}{'nuggetizer':>12}{'assigner':>10}", *DIMENSIONS[:3], sep="  ")
    async with banks() as shared:
        for name, stores in (("own lists", Stores()), ("shared lists", shared)):
            found, calls = await outcomes(rows, passages, stores, characters)
            line = f"{name:<14}{calls['nuggetizer']:>12}{calls['assigner']:>10}"
            for dimension in DIMENSIONS[:3]:
                mean, _, low, high = interval(agreement(found, "all", dimension))
                line += f"  {mean:.3f} [{low:.3f}, {high:.3f}]"
            print(line, flush=True)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--limit", type=int, help="only the first so many battles")
    options.add_argument("--characters", type=int, help="of evidence for nuggets; all by default")
    chosen = options.parse_args()
    if "NUGGETSTREAM_DATA" not in os.environ:
        raise SystemExit("Set NUGGETSTREAM_DATA to the folder that holds crowdrag25/.")
    folder = Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25"
    asyncio.run(compare(folder, chosen.limit, chosen.characters))


if __name__ == "__main__":
    main()
