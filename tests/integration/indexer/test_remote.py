"""Vectors from an OpenAI-compatible endpoint: batched, retried, booked, and never of another model."""

import asyncio
from decimal import Decimal

import numpy as np
import pytest
from prometheus_client import REGISTRY
from starlette.responses import JSONResponse, PlainTextResponse, Response

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import content_hash
from services.indexer.gathering import BatchLimits
from services.runtime import work
from services.runtime.errors import BudgetExceeded, ModelOutage, Permanent
from services.runtime.llm.accounting import Ledger, MemorySpendStore
from services.runtime.llm.budget import Budget, Limit
from services.runtime.llm.cause import Cause
from services.runtime.llm.prices import Price, PriceTable, Tokens
from services.runtime.work import Work
from tests.integration.indexer.conftest import Connect, Server, error


def count(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_vectors_come_in_order_and_in_base64(connect: Connect, server: Server) -> None:
    embedder = connect()
    texts = ["tea with milk", "coffee", "water and ice", "tea with milk"]
    rows = await embedder.embed(texts)
    assert np.allclose(rows, server.model.encode(texts), atol=1e-6)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    assert set(server.forms) == {"base64"}
    assert (await embedder.embed([])).shape == (0, 0)


async def test_an_endpoint_without_base64_is_asked_for_numbers(connect: Connect, server: Server) -> None:
    def reject(_: list[str]) -> Response | None:
        return error(400, "unknown parameter encoding_format") if server.forms[-1] == "base64" else None

    server.instead = reject
    embedder = connect()
    rows = await embedder.embed(["tea"])
    assert np.allclose(rows, server.model.encode(["tea"]), atol=1e-6)
    await embedder.embed(["coffee"])
    assert server.forms == ["base64", "float", "float", "float"]  # the first text is the check of the model


async def test_texts_of_many_callers_are_batched_by_length_and_tokens(
    connect: Connect, server: Server
) -> None:
    embedder = connect(limits=BatchLimits(texts=8, tokens=64), concurrency=1)
    await embedder.ready()
    server.requests.clear()
    server.go.clear()
    first = asyncio.create_task(embedder.embed(["first"]))
    while not server.requests:
        await asyncio.sleep(0)
    texts = [
        word * 4 * size for size in (20, 1, 19, 2, 1, 18) for word in "ab"
    ]  # a letter four times: a token
    callers = [asyncio.create_task(embedder.embed([text])) for text in texts]
    await asyncio.sleep(0)
    server.go.set()
    rows = np.concatenate(await asyncio.gather(*callers))
    await first
    assert np.allclose(rows, server.model.encode(texts), atol=1e-6)
    tokens = [sorted(len(text) // 4 for text in request) for request in server.requests[1:]]
    assert tokens[0] == [19, 20, 20]  # the first that came, and those most like it, within 64 tokens
    assert all(max(batch) * len(batch) <= 64 for batch in tokens)
    assert [1, 1, 1, 1, 2, 2] in tokens
    assert server.most_at_once == 1


async def test_failures_are_retried_and_counted(connect: Connect, server: Server) -> None:
    labels = {"stage": "indexer", "model": "words"}
    calls = "nuggetstream_llm_calls_total"
    before = {name: count(calls, outcome=name, **labels) for name in ("ok", "retried")}
    answers = iter([error(503, retry_after="2"), error(500)])
    server.instead = lambda _: next(answers, None)
    slept: list[float] = []
    rows = await connect(slept=slept).embed(["tea"])
    assert np.allclose(rows, server.model.encode(["tea"]), atol=1e-6)
    assert len(slept) == 2
    assert slept[0] >= 2.0
    assert count(calls, outcome="retried", **labels) == before["retried"] + 2
    assert count(calls, outcome="ok", **labels) == before["ok"] + 2
    assert count(
        "gen_ai_client_operation_duration_seconds_count",
        gen_ai_operation_name="embeddings", gen_ai_request_model="words", stage="indexer", outcome="ok",
    ) >= 2  # fmt: skip


async def test_while_the_endpoint_is_away_everybody_waits_and_nobody_calls(
    connect: Connect, server: Server
) -> None:
    server.instead = lambda _: error(401, "invalid key")
    embedder = connect()
    with pytest.raises(ModelOutage, match="set NUGGETSTREAM_EMBEDDING_API_KEY to a valid key") as caught:
        await embedder.embed(["tea"])
    assert caught.value.reason is Reason.LLM_UNAVAILABLE
    away = embedder.first_away()
    assert away is not None
    assert away.cause is Cause.KEY
    asked = len(server.requests)
    with pytest.raises(ModelOutage):
        await embedder.embed(["coffee"])
    assert len(server.requests) == asked


@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": "%%"}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
        {"choices": []},
    ],
)
async def test_a_response_that_is_no_vector_is_none(
    connect: Connect, server: Server, body: dict[str, object]
) -> None:
    server.instead = lambda _: JSONResponse(body)
    with pytest.raises(ModelOutage, match="the embedding model's endpoint sent an invalid response"):
        await connect(attempts=2).embed(["tea"])


@pytest.mark.parametrize(
    "too_long",
    [
        error(400, "maximum context length is 100 tokens"),
        JSONResponse({"object": "error", "message": "the input has more than 100 tokens"}, 400),
        JSONResponse({"error": "`inputs` must have less than 100 tokens", "error_type": "Validation"}, 422),
        JSONResponse({"detail": "the input has too many tokens"}, 422),
        PlainTextResponse("an input has too many tokens", 400),
    ],
    ids=["OpenAI", "vLLM", "TEI", "FastAPI", "text"],
)
async def test_a_text_that_is_too_long_is_cut_and_counted_and_the_others_are_whole(
    connect: Connect, server: Server, too_long: Response
) -> None:
    def reject(texts: list[str]) -> Response | None:
        return too_long if max(map(len, texts)) > 400 else None

    server.instead = reject
    before = count("nuggetstream_embedding_cut_texts_total", model="words")
    long = "the tide comes and goes again " * 40
    texts = ["tea", long, "coffee", "water"]
    model = connect()
    rows = await model.embed(texts)
    assert np.allclose(rows[[0, 2, 3]], server.model.encode(["tea", "coffee", "water"]), atol=1e-6)
    longest = max((text for request in server.requests for text in request if len(text) <= 400), key=len)
    assert long.startswith(longest)
    assert len(longest) > 200
    assert np.allclose(rows[1], server.model.encode([longest])[0], atol=1e-6)
    assert count("nuggetstream_embedding_cut_texts_total", model="words") == before + 1
    shares = [model.cuts.of(content_hash(text)) for text in texts]
    assert shares == [None, len(longest) / len(long), None, None]


async def test_a_rejected_text_fails_alone(connect: Connect, server: Server) -> None:
    server.instead = lambda texts: error(400, "this is not allowed") if "poison" in texts else None
    embedder = connect()
    await embedder.ready()
    callers = [asyncio.create_task(embedder.embed([text])) for text in ("tea", "poison", "coffee")]
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert isinstance(results[1], Permanent)
    assert results[1].reason is Reason.INVALID_INPUT
    assert [isinstance(results[index], np.ndarray) for index in (0, 2)] == [True, True]


async def test_an_endpoint_that_takes_fewer_texts_gets_fewer(connect: Connect, server: Server) -> None:
    def reject(texts: list[str]) -> Response | None:
        return error(422, "batch size is larger than 4") if len(texts) > 4 else None

    server.instead = reject
    embedder = connect(limits=BatchLimits(16))
    texts = [f"text {number}" for number in range(16)]
    assert np.allclose(await embedder.embed(texts), server.model.encode(texts), atol=1e-6)
    server.requests.clear()
    await embedder.embed([f"other {number}" for number in range(16)])
    assert max(map(len, server.requests)) == 4


async def test_costs_are_booked_to_the_battles_by_the_lengths_of_their_texts(
    connect: Connect, server: Server
) -> None:
    spend = MemorySpendStore()
    prices = PriceTable({"words": Price(input=Decimal(1), output=Decimal(0))})
    ledger = Ledger(prices, store=spend)
    embedder = connect(ledger=ledger, concurrency=1)
    await embedder.ready()

    async def of_battle(name: str, text: str) -> None:
        with work.delivery():
            work.begin(Work(name, "arena"))
            await embedder.embed([text])

    await asyncio.gather(of_battle("ada", "four" * 10), of_battle("bob", "four" * 30))
    of_ada, of_bob = await spend.of_battle("ada"), await spend.of_battle("bob")
    assert (of_ada.tokens, of_bob.tokens) == (Tokens(10), Tokens(30))
    assert of_bob.amount == Decimal(30) / 1_000_000
    today = await ledger.for_day()
    assert today.tokens.input == sum(
        len(text.encode()) // 4 + bool(len(text) % 4) for batch in server.requests for text in batch
    )


async def test_texts_beyond_the_budget_are_not_sent(connect: Connect, server: Server) -> None:
    embedder = connect(ledger=Ledger(budget=Budget(battle=Limit(tokens=12))))
    await embedder.ready()
    with work.delivery():
        work.begin(Work("ada", "arena"))
        await embedder.embed(["four" * 10])
        asked = len(server.requests)
        with pytest.raises(BudgetExceeded):
            await embedder.embed(["four" * 3])
    assert len(server.requests) == asked


async def test_the_vectors_of_another_model_are_not_taken(connect: Connect, server: Server) -> None:
    row = server.model.encode(["coffee"])[0]

    async def stored() -> tuple[str, np.ndarray]:
        return "tea", row

    embedder = connect(reference=stored)
    with pytest.raises(ModelOutage, match=r"a stored text has a cosine of 0\.\d\d") as caught:
        await embedder.ready()
    assert "NUGGETSTREAM_EMBEDDING_MODEL" in caught.value.detail
    with pytest.raises(ModelOutage):
        await embedder.embed(["water"])
    row = np.ones(3, np.float32)
    with pytest.raises(ModelOutage, match="they have 64 dimensions, not 3"):
        await connect(reference=stored).ready()
    row = server.model.encode(["tea"])[0]
    await connect(reference=stored).ready()


async def test_a_model_that_changes_while_it_serves_is_noticed(connect: Connect, server: Server) -> None:
    embedder = connect()
    await embedder.embed(["tea"])
    server.instead = lambda texts: JSONResponse(
        {"data": [{"index": index, "embedding": [1.0, 2.0]} for index in range(len(texts))]}
    )
    with pytest.raises(ModelOutage, match="they have 2 dimensions, not 64"):
        await embedder.embed(["coffee"])


async def test_no_more_calls_run_at_once_than_allowed(connect: Connect, server: Server) -> None:
    embedder = connect(limits=BatchLimits(1), concurrency=3)
    await embedder.ready()
    texts = [f"text {number}" for number in range(20)]
    server.go.clear()
    embedding = asyncio.create_task(embedder.embed(texts))
    while server.most_at_once < 3:
        await asyncio.sleep(0)
    server.go.set()
    assert np.allclose(await embedding, server.model.encode(texts), atol=1e-6)
    assert server.most_at_once == 3
