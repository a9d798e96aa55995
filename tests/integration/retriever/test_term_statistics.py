"""In how many chunks a term occurs, with the index in PostgreSQL."""

from collections.abc import Sequence

import pytest
from sqlalchemy import text

from services.retriever.pgvector import PgVectorIndex
from services.retriever.term_statistics import TermStatistics
from services.store.content.chunks import Chunks, StoredChunk
from services.store.database import Database
from tests.integration.retriever.test_every_index import chunk
from tests.integration.retriever.test_pgvector import battles_in, count
from tests.integration.retriever.test_pgvector import postgres as postgres  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.postgresql


def named(number: int) -> str:
    """A word of letters for a number."""
    return "".join(chr(97 + number // 26**place % 26) for place in range(4))


async def indexed(database: Database, chunks: Sequence[StoredChunk]) -> PgVectorIndex:
    """An index of the words of chunks, whose terms are counted."""
    index = PgVectorIndex(database, None, 0)
    await index.prepare()
    await index.add(chunks, None)
    await index.settled()
    return index


async def test_rare_terms_count_more_than_those_of_a_few_chunks(postgres: Database) -> None:
    """PostgreSQL's own statistics know the frequencies of the thousand most frequent terms alone."""
    texts = [" ".join(named(n) for n in range(i % 150 * 20, i % 150 * 20 + 20)) for i in range(3000)]
    # 21 chunks have its words, which weigh more in it, because it is shorter than the next one.
    common = chunk(f"{named(2990)} {named(2991)}.")
    rare = chunk("Aardwolf " + " ".join(named(n) for n in range(40)) + ".")
    chunks = [*(chunk(f"{text} {named(100_000 + i)}.") for i, text in enumerate(texts)), common, rare]
    await Chunks(postgres).add(chunks)
    index = await indexed(postgres, chunks)
    ranking = await index.matching(f"{named(2990)} aardwolf", 5)
    assert ranking[:2] == [rare.id, common.id]
    assert len(ranking) == 5


async def test_terms_are_counted_in_a_sample_and_again_once_the_corpus_has_grown(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = await battles_in(postgres)
    index = await indexed(postgres, chunks)
    statistics = TermStatistics(postgres, index.table)
    tea = sum("tea" in c.text for c in chunks)
    assert (await statistics.holders(["tea", "zebra"])).counts == {"tea": tea, "zebra": 1.0}
    assert await statistics.size() == len(chunks)
    few = [chunk(f"Tea with zebra a {i}.") for i in range(9)]
    many = [chunk(f"Tea with zebra b {i}.") for i in range(90)]
    for new, expected in ((few, tea), (many, tea + 99)):
        await Chunks(postgres).add(new)
        await index.add(new, None)
        await index.settled()  # it counts the terms itself once it has grown enough
        await statistics.collect(await count(postgres, f"SELECT count(*) FROM {index.table}"))
        statistics.forget()
        assert (await statistics.holders(["tea"])).counts["tea"] == expected
    monkeypatch.setattr("services.retriever.term_statistics._SAMPLE", 100)
    size = await count(postgres, f"SELECT count(*) FROM {index.table}")
    await statistics.collect(2 * size)  # as if it had doubled
    holders = await statistics.holders(["with", "unheard"])
    assert holders.size == 2 * size
    assert holders.counts["unheard"] == max(0.5 * 2 * size / 100, 1)  # half a chunk of the sample
    assert holders.counts["unheard"] <= holders.counts["with"] <= 2 * size


async def test_a_search_may_forget_counts_while_another_looks_some_up(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = await battles_in(postgres)
    index = await indexed(postgres, chunks)
    statistics = TermStatistics(postgres, index.table)
    tea = (await statistics.holders(["tea"])).counts
    look_up = statistics._look_up

    async def forgetting(words: Sequence[str]) -> dict[str, float]:
        statistics.forget()
        await statistics.size()
        return await look_up(words)

    monkeypatch.setattr(statistics, "_look_up", forgetting)
    holders = await statistics.holders(["tea", "coffee"])
    assert holders.counts == tea | await look_up(["coffee"])


async def test_an_older_table_without_counts_gets_them_at_the_start(postgres: Database) -> None:
    chunks = await battles_in(postgres)
    index = await indexed(postgres, chunks)
    async with postgres.transaction() as tx:
        await tx.execute(text(f"DROP TABLE {index.table}_terms"))
    again = PgVectorIndex(postgres, None, 0)
    assert await again.matching("green tea", 5)  # a search does not wait for them
    await again.prepare()
    await again.settled()
    assert await TermStatistics(postgres, index.table).are_collected()
