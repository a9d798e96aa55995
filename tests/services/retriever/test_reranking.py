"""Rerankers: the order of what a search found, at endpoints of both forms and when they fail."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import openai
import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from nuggetstream.domain.failure import Reason
from services.cli.wiring.prepared import NotPreparedYet
from services.cli.wiring.reranking import open_reranking, require_reranker
from services.cli.wiring.retrieval import RetrievalSettings
from services.offline.serve import running
from services.retriever.cross_encoder import CrossEncoderReranker
from services.retriever.index import Hit
from services.retriever.rerank_endpoint import RerankEndpoint
from services.retriever.reranking import Reranking
from services.runtime import metrics, work
from services.runtime.errors import Outage, Unavailable
from services.runtime.llm.accounting import Ledger, MemorySpendStore, Spend
from services.runtime.llm.exchange import Exchange
from services.runtime.llm.prices import estimate_tokens
from services.runtime.llm.settings import LLMSettings
from services.runtime.work import Work
from services.store.content.chunks import StoredChunk
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore

TEXTS = ["Water is wet.", "Green tea has caffeine.", "Tea is made of leaves.", "Coffee is made of beans."]
HITS: list[Hit] = [(StoredChunk(f"c{i}", "page", i, text), 1.0 / (i + 1)) for i, text in enumerate(TEXTS)]
KEY = "rerank-0123456789"


def shared(query: str, text: str) -> float:
    """As a cross-encoder: how many words of the query a text has."""
    return float(sum(word in text.lower() for word in query.lower().split()))


@dataclass
class Server:
    """An endpoint.

    Attributes:
        form: Which of the two forms of the API it has.
        most: Passages that it takes in one call.
        instead: Another response to every request; None to answer.
        counted: What an answer says about its tokens.
        wait: Requests wait for it.
        requests: The bodies of requests, and the headers.
    """

    form: str = "documents"
    most: int = 1000
    instead: Response | None = None
    counted: dict[str, Any] = field(default_factory=dict)
    wait: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.json()
        self.requests.append(body)
        self.paths.append(request.url.path)
        self.keys.append(request.headers.get("authorization"))
        await self.wait.wait()
        await (self.instead or self._answer(body))(scope, receive, send)

    def _answer(self, body: dict[str, Any]) -> Response:
        if self.form not in body:
            said = f"Failed to deserialize the JSON body into the target type: missing field `{self.form}`"
            return Response(said, 422)
        texts = body[self.form]
        if len(texts) > self.most:
            said = f"batch size {len(texts)} > maximum allowed batch size {self.most}"
            return JSONResponse({"error": said, "error_type": "Validation"}, 422)
        name = "relevance_score" if self.form == "documents" else "score"
        scores = [{"index": i, name: shared(body["query"], text)} for i, text in enumerate(texts)]
        scores.sort(key=lambda each: -each[name])
        if self.form == "texts":
            return JSONResponse(scores)
        return JSONResponse({"id": "x", "results": scores} | self.counted)


@pytest.fixture
def server() -> Server:
    made = Server()
    made.wait.set()
    return made


class Opener(Protocol):
    """Opens what the retriever has with settings that name a server."""

    def __call__(
        self, server: Server, llm: LLMSettings = ..., **more: Any
    ) -> AbstractAsyncContextManager[Reranking]: ...


@pytest.fixture
def reranking(record: Database) -> Opener:
    @asynccontextmanager
    async def open_with(
        server: Server, llm: LLMSettings | None = None, **more: Any
    ) -> AsyncIterator[Reranking]:
        async with running(server) as url:
            settings = RetrievalSettings(
                rerank_url=url, rerank_api_key=SecretStr(KEY), rerank_model="cross", **more
            )
            async with open_reranking(settings, llm or LLMSettings(), record) as opened:
                assert opened is not None
                yield opened

    return open_with


def texts_of(hits: Sequence[Hit] | None) -> list[str]:
    assert hits is not None
    return [chunk.text for chunk, _ in hits]


def count(outcome: str) -> float:
    return metrics.RERANKS.labels("cross", outcome)._value.get()


@pytest.mark.parametrize("form", ["documents", "texts"])
async def test_hits_are_in_the_order_of_the_reranker_at_endpoints_of_both_forms(
    server: Server, reranking: Opener, form: str
) -> None:
    server.form = form
    async with reranking(server) as ranker:
        for _ in range(2):
            hits = await ranker.reranked("green tea", HITS)
            assert texts_of(hits) == [TEXTS[1], TEXTS[2], TEXTS[0], TEXTS[3]]  # ties stay as they were
            assert hits is not None
            assert [score for _, score in hits] == [2.0, 1.0, 0.0, 0.0]
    assert len(server.requests) == (2 if form == "documents" else 3)  # the form is found once
    assert set(server.paths) == {"/v1/rerank"}
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert server.requests[-1]["query"] == "green tea"
    assert server.requests[-1]["model"] == "cross"


@pytest.mark.parametrize("form", ["documents", "texts"])
async def test_an_endpoint_that_takes_fewer_passages_is_asked_in_parts(
    server: Server, reranking: Opener, form: str
) -> None:
    server.form, server.most = form, 2
    many = [HITS[i % 4] for i in range(11)]
    async with reranking(server) as ranker:
        first = await ranker.reranked("green tea", many)
        before = len(server.requests)
        assert await ranker.reranked("green tea", many) == first
    assert texts_of(first)[:3] == [TEXTS[1]] * 3
    assert len(texts_of(first)) == 11
    assert len(server.requests) - before == 6  # of at most two each, and none is too large any more


@pytest.mark.parametrize(
    "instead",
    [
        Response("no", 500),
        JSONResponse({"message": "invalid api token"}, 401),
        JSONResponse({"message": "too many"}, 429),
        Response("{", 200),
        JSONResponse({"results": [{"index": 0, "relevance_score": 1.0}]}),
        JSONResponse({"results": [{"index": i % 2, "relevance_score": 1.0} for i in range(4)]}),
        Response(json.dumps({"results": [{"index": i, "score": float("nan")} for i in range(4)]})),
    ],
    ids=["500", "key", "429", "cut", "missing", "twice", "nan"],
)
async def test_without_scores_the_order_of_the_search_stays_and_is_counted(
    server: Server, reranking: Opener, instead: Response
) -> None:
    server.instead = instead
    before = count("failed"), count("skipped")
    async with reranking(server) as ranker:
        assert await ranker.reranked("tea", HITS) is None
        assert (count("failed") - before[0], count("skipped") - before[1]) == (1, 0)


@pytest.mark.slow
async def test_an_endpoint_that_does_not_answer_costs_one_timeout_and_not_one_per_battle(
    server: Server, reranking: Opener
) -> None:
    server.wait.clear()
    now = 100.0
    skipped = count("skipped")
    async with reranking(server) as ranker:
        ranker.timeout_s = 1.0
        ranker.clock = lambda: now
        assert await ranker.reranked("tea", HITS) is None
        assert await ranker.reranked("tea", HITS) is None
        assert (len(server.requests), count("skipped") - skipped) == (1, 1)
        server.wait.set()
        now, ranker.timeout_s = now + 11, 30.0
        assert texts_of(await ranker.reranked("tea", HITS))[:2] == [TEXTS[1], TEXTS[2]]


ESTIMATE = sum(map(estimate_tokens, ["green tea", *TEXTS]))
BUDGET = LLMSettings(battle_tokens=3 * ESTIMATE, day_tokens=10_000)


@contextmanager
def work_on(battle_id: str) -> Iterator[None]:
    """As the runner, while it handles a message about a battle."""
    with work.delivery():
        work.begin(Work(battle_id, "arena"))
        yield


@pytest.mark.parametrize(
    ("counted", "tokens", "estimated"),
    [
        ({"usage": {"total_tokens": 77}}, 77, 0),
        ({"usage": {"prompt_tokens": 78, "total_tokens": 78}}, 78, 0),
        ({"meta": {"billed_units": {"search_units": 1}, "tokens": {"input_tokens": 79}}}, 79, 0),
        ({"meta": {"billed_units": {"search_units": 1}}}, ESTIMATE, 1),
        ({}, ESTIMATE, 1),
    ],
)
async def test_a_call_is_booked_to_the_battle_and_measured(
    record: Database,
    server: Server,
    reranking: Opener,
    tmp_path: Path,
    *,
    counted: Any,
    tokens: int,
    estimated: int,
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."cross"]\ninput = 1000000\noutput = 0\n')
    server.counted, spend = counted, DatabaseSpendStore(record, "USD")
    calls = metrics.LLM_CALLS.labels("retriever", "cross", "ok")
    before = calls._value.get()
    async with reranking(server, LLMSettings(prices=prices)) as ranker:
        with work_on("b1"):
            assert await ranker.reranked("green tea", HITS)
        booked = await spend.of_battle("b1")
        assert (booked.tokens.input, booked.amount, booked.calls) == (tokens, tokens, 1)
        assert (booked.estimated, booked.unpriced) == (estimated, 0)
        assert await ranker.reranked("green tea", HITS)  # for no battle
    assert await spend.of_battle("b1") == booked
    assert (await spend.of_day(datetime.now(UTC).date())).calls == 2
    assert calls._value.get() == before + 2


async def test_a_battle_without_budget_keeps_the_order_of_the_search_and_others_do_not(
    server: Server, reranking: Opener
) -> None:
    before = count("over_budget"), count("skipped")
    async with reranking(server, BUDGET) as ranker:
        with work_on("b1"):
            assert await ranker.reranked("green tea", HITS)
            server.counted = {"usage": {"total_tokens": 2 * ESTIMATE}}
            assert await ranker.reranked("green tea", HITS)
            assert await ranker.reranked("green tea", HITS) is None
        assert len(server.requests) == 2
        with work_on("b2"):
            assert await ranker.reranked("green tea", HITS)
    assert (count("over_budget") - before[0], count("skipped") - before[1]) == (1, 0)


@pytest.mark.slow
async def test_what_nobody_waits_for_any_more_is_booked_by_its_estimate(
    record: Database, server: Server, reranking: Opener
) -> None:
    server.wait.clear()
    async with reranking(server) as ranker:
        ranker.timeout_s = 1.0
        with work_on("b1"):
            assert await ranker.reranked("green tea", HITS) is None
        server.wait.set()
    booked = await DatabaseSpendStore(record, "USD").of_battle("b1")
    assert (booked.tokens.input, booked.estimated) == (ESTIMATE, 1)


async def test_a_database_that_is_away_is_waited_for(server: Server) -> None:
    class Away(MemorySpendStore):
        async def of_battle(self, battle_id: str) -> Spend:
            raise Outage(Reason.STORE_UNAVAILABLE, "away")

    client = openai.AsyncOpenAI(api_key="k", base_url="http://there.invalid/v1", max_retries=0)
    ledger = Ledger(budget=BUDGET.budget(), store=Away())
    endpoint = RerankEndpoint(Exchange(client, 5.0), "cross", ledger)
    ranker = Reranking(endpoint, timeout_s=5)
    with work_on("b1"), pytest.raises(Outage):
        await ranker.reranked("green tea", HITS)
    await endpoint.close()


async def test_a_budget_of_money_needs_a_price_for_the_reranker(record: Database) -> None:
    settings = RetrievalSettings(rerank_url="http://there.invalid", rerank_model="cross")
    with pytest.raises(ValueError, match="needs a price for cross"):
        async with open_reranking(settings, LLMSettings(day_money=Decimal(1)), record):
            pass


class CrossEncoder:
    """A model with the interface of sentence-transformers."""

    def __init__(self, answer: Callable[[list[tuple[str, str]]], Any]) -> None:
        self._answer = answer

    def predict(self, pairs: list[tuple[str, str]], **_: Any) -> Any:
        return self._answer(pairs)


async def test_a_model_in_the_process_orders_and_is_loaded_once() -> None:
    loaded: list[str] = []

    def load(name: str) -> CrossEncoder:
        loaded.append(name)
        return CrossEncoder(lambda pairs: np.array([shared(*pair) for pair in pairs]))

    ranker = Reranking(CrossEncoderReranker("cross", load), timeout_s=5)
    for _ in range(2):
        assert texts_of(await ranker.reranked("green tea", HITS))[0] == TEXTS[1]
    assert loaded == ["cross"]


@pytest.mark.slow
async def test_loading_does_not_count_against_the_timeout_of_a_search() -> None:
    searching = asyncio.Event()
    loop = asyncio.get_running_loop()

    def load(name: str) -> CrossEncoder:
        loop.call_soon_threadsafe(searching.set)
        time.sleep(2.5)  # longer than the timeout: a slow loader
        return CrossEncoder(lambda pairs: np.array([shared(*pair) for pair in pairs]))

    ranker = Reranking(CrossEncoderReranker("cross", load), timeout_s=2.0)
    failed = count("failed"), count("skipped")
    first = asyncio.create_task(ranker.reranked("green tea", HITS))
    await searching.wait()
    second = asyncio.create_task(ranker.reranked("green tea", HITS))  # while the model is being loaded
    assert [texts_of(hits)[0] for hits in await asyncio.gather(first, second)] == [TEXTS[1]] * 2
    assert (count("failed"), count("skipped")) == failed


async def test_a_model_is_loaded_before_the_first_search() -> None:
    loaded: list[str] = []

    def load(name: str) -> CrossEncoder:
        loaded.append(name)
        return CrossEncoder(lambda pairs: np.zeros(len(pairs)))

    model = CrossEncoderReranker("cross", load)
    for _ in range(2):
        await require_reranker(model)
        assert loaded == ["cross"]
    await model.scores("tea", TEXTS)
    assert loaded == ["cross"]


async def test_a_model_that_cannot_be_loaded_is_named_at_the_start() -> None:
    def load(name: str) -> Any:
        raise OSError(f"{name} is not a folder and not a model on the hub")

    said = "NUGGETSTREAM_RERANK_MODEL: the reranker nothing cannot be loaded: nothing is not a folder"
    with pytest.raises(NotPreparedYet, match=said):
        await require_reranker(CrossEncoderReranker("nothing", load))


@pytest.mark.parametrize("answer", [[[0.1, 0.9]] * 4, [0.5], [float("nan")] * 4])
async def test_a_model_that_gives_no_number_per_passage_is_no_reranker(answer: list[Any]) -> None:
    model = CrossEncoderReranker("classes", lambda _: CrossEncoder(lambda _: answer))
    with pytest.raises(Unavailable, match="no number per passage"):
        await model.scores("tea", TEXTS)


async def test_a_model_that_is_not_there_leaves_the_order() -> None:
    def load(name: str) -> Any:
        raise OSError(f"{name} is no model")

    model = CrossEncoderReranker("nothing", load)
    with pytest.raises(Unavailable) as raised:
        await model.scores("tea", TEXTS)
    assert raised.value.reason is Reason.LLM_UNAVAILABLE
    assert await Reranking(model, 5).reranked("tea", HITS) is None


async def test_without_settings_there_is_no_reranker(record: Database) -> None:
    async with open_reranking(RetrievalSettings(), LLMSettings(), record) as nothing:
        assert nothing is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rerank_api_key": "k"}, "set NUGGETSTREAM_RERANK_URL"),
        ({"rerank_url": "http://x"}, "set NUGGETSTREAM_RERANK_MODEL"),
        ({"rerank_url": "ftp://x", "rerank_model": "m"}, "http"),
    ],
)
def test_settings_that_do_not_fit_are_rejected(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrievalSettings(**json.loads(json.dumps(given)))
