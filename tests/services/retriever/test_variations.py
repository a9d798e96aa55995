"""Variations of queries: what is asked, what is searched for, and that no battle fails because of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.failure import Reason
from services.retriever.memory import MemoryIndex
from services.retriever.search import Scope, Searcher
from services.retriever.stage import Retriever
from services.retriever.variations import QueryVariations, variations_prompt
from services.runtime import metrics
from services.runtime.errors import BudgetExceeded, ModelOutage, Outage, Permanent, Retryable, StageError
from services.runtime.llm.parsing import Unusable, read_reply
from services.runtime.llm.query_replies import VariationsReply
from services.store.database import Database
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.services.retriever.test_search import index, run

BATTLE = replace(samples.battle(), query="what calms people")


def saying(*searches: str) -> ScriptedModel:
    return ScriptedModel({"query_variations": lambda _: VariationsReply(searches=list(searches))})


def failing(error: StageError) -> ScriptedModel:
    def fail(_: Any) -> Any:
        raise error

    return ScriptedModel({"query_variations": fail})


async def test_the_model_is_asked_once_about_the_query_and_repetitions_are_left_out() -> None:
    model = saying(" green  tea", "What calms people", "Green tea", "", "chamomile", "valerian")
    assert await QueryVariations(model, 2).of(BATTLE) == ("green tea", "chamomile")
    [prompt] = model.asked
    assert [block.text for block in blocks(prompt, "query")] == ["what calms people"]
    assert ("limit", 2) in prompt.parameters
    assert model.battles == [BATTLE.id]


@pytest.mark.parametrize(
    "error",
    [
        ModelOutage(Reason.LLM_UNAVAILABLE, "away", patience=1.0),
        Retryable(Reason.REPLY_UNUSABLE, "twice"),
        Permanent(Reason.LLM_REFUSED, "no"),
        BudgetExceeded("used up"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_without_variations_the_query_alone_is_searched_for_and_counted(error: StageError) -> None:
    before = metrics.QUERY_VARIATIONS.labels("failed")._value.get()
    assert await QueryVariations(failing(error), 3).of(BATTLE) == ()
    assert metrics.QUERY_VARIATIONS.labels("failed")._value.get() == before + 1


async def test_a_database_that_is_away_is_waited_for() -> None:
    with pytest.raises(Outage):
        await QueryVariations(failing(Outage(Reason.STORE_UNAVAILABLE, "away")), 3).of(BATTLE)


def test_a_reply_with_an_endless_search_is_not_used() -> None:
    with pytest.raises(Unusable):
        read_reply('{"searches": ["' + "tea " * 200 + '"]}', variations_prompt("tea", 3))
    assert read_reply('{"searches": []}', variations_prompt("tea", 3)).searches == []


async def evidence(record: Database, scope: Scope, variations: QueryVariations | None) -> BattleRetrieved:
    searcher = Searcher.of(record, None, MemoryIndex())
    return await run(Retriever(searcher, scope, 2, variations))


@pytest.mark.parametrize("scope", [Scope.BATTLE, Scope.CORPUS])
async def test_a_passage_that_only_a_variation_finds_is_evidence(record: Database, scope: Scope) -> None:
    query = samples.battle().query
    pages: Sequence[str] = [f"{query} {number}" for number in range(3)]
    for number, text in enumerate([*pages, "Chamomile helps."]):
        await index(record, "b1", f"u{number}", text, (Side.A,), None)
    alone = await evidence(record, scope, None)
    varied = await evidence(record, scope, QueryVariations(saying("chamomile"), 3))
    assert (alone.ranking, alone.variations) == ("bm25", ())
    assert (varied.ranking, varied.variations) == ("bm25+variations", ("chamomile",))
    assert "Chamomile helps." not in {piece.text for piece in alone.evidence}
    assert "Chamomile helps." in {piece.text for piece in varied.evidence}
    assert alone.key != varied.key


async def test_a_battle_without_pages_asks_for_no_variations(record: Database) -> None:
    model = saying("chamomile")
    assert (await evidence(record, Scope.BATTLE, QueryVariations(model, 3))).evidence == ()
    assert model.asked == []
