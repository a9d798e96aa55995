"""Search, vectors and leaderboards over real sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta

import grpc
import numpy as np
import pytest
from arena.v1 import ratings_pb2, ratings_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from google.protobuf.timestamp_pb2 import Timestamp

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import content_hash
from services.indexer.gathering import URGENT
from services.indexer.grpc_service import MAX_TEXTS, embedding_service
from services.rater.boards import Boards
from services.rater.grpc_service import ratings_service
from services.retriever.grpc_service import retrieval_service
from services.retriever.memory import MemoryIndex
from services.retriever.search import Searcher
from services.runtime import rpc
from services.runtime.embedding import Vectors
from services.runtime.errors import InvalidInput, Outage, Retryable, Unavailable
from services.store.battles.battles import Battles
from services.store.content.chunks import Chunks, Origin, Sources, StoredChunk, StoredSource
from services.store.database import Database
from services.store.outcomes.stated_outcomes import outcomes_of
from services.wire.embedding_client import GrpcEmbedder
from tests import samples
from tests.fakes import WordVectors
from tests.stored import WrittenOutcomes

Request = retrieval_pb2.SearchRequest


def at(time: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(time)
    return stamp


@pytest.fixture
async def model() -> AsyncIterator[tuple[GrpcEmbedder, WordVectors]]:
    """A client, and the model it reaches through a server."""
    words = WordVectors()
    async with rpc.serve("127.0.0.1:0", [embedding_service(words, words)], grace=0) as port:
        client = GrpcEmbedder(f"127.0.0.1:{port}", "words")
        yield client, words
        await client.close()


async def test_vectors_travel_bit_by_bit_and_in_order(model: tuple[GrpcEmbedder, WordVectors]) -> None:
    client, words = model
    texts = [f"tea number {i}" for i in range(1100)]
    rows = await client.embed(texts)
    assert rows.dtype == np.float32
    assert np.array_equal(rows, words.encode(texts))
    assert [len(call) for call in words.calls] == [512, 512, 76]
    assert (await client.embed([])).shape == (0, 0)


async def test_too_many_texts_at_once_are_refused(model: tuple[GrpcEmbedder, WordVectors]) -> None:
    client, words = model
    with pytest.raises(InvalidInput, match=f"{MAX_TEXTS + 1} texts; at most {MAX_TEXTS} a call"):
        await client._call([""] * (MAX_TEXTS + 1))
    assert words.calls == []


async def test_an_indexer_that_is_not_there_is_unavailable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: connecting is refused
        client = GrpcEmbedder(f"127.0.0.1:{closed.getsockname()[1]}", "words")
        with pytest.raises(Outage) as raised:
            await client.embed(["tea"])
        assert raised.value.detail == "the indexer does not answer: UNAVAILABLE"
        assert f"{closed.getsockname()[1]}" in f"{raised.value.admin_detail}"
        await client.close()


async def test_an_indexer_with_too_much_to_do_is_waited_for_and_queries_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    urgent: list[bool] = []

    class Busy(WordVectors):
        async def embed(self, texts):
            urgent.append(URGENT.get())
            await asyncio.Event().wait()

    monkeypatch.setattr(rpc, "DEADLINE", 0.2)
    async with rpc.serve("127.0.0.1:0", [embedding_service(Busy(), Busy())], grace=0) as port:
        for store in (False, True):
            client = GrpcEmbedder(f"127.0.0.1:{port}", "words", store=store)
            with pytest.raises(Outage, match="the indexer is busy: no vectors within"):
                await client.embed(["tea"])
            await client.close()
    assert urgent == [True, False]  # what is stored belongs to chunks


async def test_a_model_that_breaks_is_a_bug_to_its_clients_and_not_an_outage_to_wait_for() -> None:
    class Broken(WordVectors):
        async def embed(self, texts):
            raise RuntimeError("out of memory")

    async with rpc.serve("127.0.0.1:0", [embedding_service(Broken(), Broken())], grace=0) as port:
        client = GrpcEmbedder(f"127.0.0.1:{port}", "words")
        with pytest.raises(Retryable) as raised:
            await client.embed(["tea"])
        assert raised.value.reason is Reason.BUG
        assert raised.value.detail == "the indexer failed: UNKNOWN"
        assert "out of memory" in f"{raised.value.admin_detail}"
        await client.close()


@pytest.fixture
async def retrieval(record: Database) -> AsyncIterator[retrieval_pb2_grpc.RetrievalStub]:
    """A searcher with one page of one battle, behind gRPC."""
    chunk = StoredChunk(
        "c", content_hash("Tea is a drink."), 0, "Tea is a drink.", Origin("en", samples.NOON)
    )
    await Chunks(record).add([chunk])
    source = StoredSource("https://example.org", "Tea", chunk.content_hash, samples.NOON, (Side.A,))
    await Sources(record).add("b1", [source])
    searcher = Searcher.of(record, None, MemoryIndex())
    server = rpc.serve("127.0.0.1:0", [retrieval_service(searcher)], grace=0)
    async with server as port, rpc.channel(f"127.0.0.1:{port}") as channel:
        yield retrieval_pb2_grpc.RetrievalStub(channel)


@pytest.mark.parametrize(
    ("scope", "count"),
    [
        (retrieval_pb2.SCOPE_CORPUS, 1),
        (retrieval_pb2.SCOPE_BATTLE, 1),
        (retrieval_pb2.SCOPE_ANSWER_A, 1),
        (retrieval_pb2.SCOPE_ANSWER_B, 0),
    ],
)
async def test_evidence_is_found_within_its_scope(
    retrieval: retrieval_pb2_grpc.RetrievalStub, scope: retrieval_pb2.Scope, count: int
) -> None:
    response = await retrieval.Search(Request(query="tea", scope=scope, battle_id="b1", arena="default"))
    assert response.ranking == "bm25"
    assert [(e.text, e.url) for e in response.evidence] == [
        ("Tea is a drink.", "https://example.org")
    ] * count


LENSES = "Input should be 'human', 'nugget', 'judge', 'guided', 'member' or 'grounded'"


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (Request(query=" ", scope=1), "query: is empty"),
        (Request(query="tea"), "scope: is not specified"),
        (Request(query="tea", scope=99), "scope: is not specified"),
        (Request(query="tea", scope=1), "arena: is needed when the scope is the corpus"),
        (Request(query="tea", scope=2), "battle_id: is needed unless the scope is the corpus"),
        (Request(query="tea", scope=1, limit=-1), "limit: -1 is not within 0 (for 50) and 1000"),
        (Request(query="tea", scope=1, languages=["de", " "]), "languages: one is empty"),
        (Request(query="tea", scope=1, variations=["leaf", " "]), "variations: one is empty"),
        (Request(query="tea", scope=1, variations=["leaf"] * 11), "variations: there are 11; at most 10"),
        (
            Request(query="tea", scope=1, fetched_after=Timestamp(nanos=-1)),
            "fetched_after: is not a valid time",
        ),
        (Request(query="tea", scope=1, limit=1001), "limit: 1001 is not within 0 (for 50) and 1000"),
    ],
)
async def test_a_bad_search_is_refused_with_the_field_and_the_reason(
    retrieval: retrieval_pb2_grpc.RetrievalStub, request_: Request, problem: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await retrieval.Search(request_)
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert raised.value.details() == problem


@pytest.mark.parametrize(
    ("request_", "count"),
    [
        (Request(languages=["fr", "en-GB"]), 1),
        (Request(languages=["fr"]), 0),
        (Request(fetched_after=at(samples.NOON)), 1),
        (Request(fetched_after=at(samples.NOON + timedelta(seconds=1))), 0),
    ],
)
async def test_evidence_is_filtered_by_language_and_age(
    retrieval: retrieval_pb2_grpc.RetrievalStub, request_: Request, count: int
) -> None:
    request_.MergeFrom(Request(query="tea", scope=retrieval_pb2.SCOPE_CORPUS, arena="default"))
    assert len((await retrieval.Search(request_)).evidence) == count


@pytest.mark.parametrize("scope", [retrieval_pb2.SCOPE_CORPUS, retrieval_pb2.SCOPE_BATTLE])
async def test_a_search_with_variations_finds_what_only_a_variation_matches(
    record: Database, retrieval: retrieval_pb2_grpc.RetrievalStub, scope: retrieval_pb2.Scope
) -> None:
    leaf = StoredChunk("d", content_hash("A leaf is green."), 0, "A leaf is green.")
    await Chunks(record).add([leaf])
    await Sources(record).add("b1", [StoredSource("u", None, leaf.content_hash, None, (Side.A,))])
    one = Request(query="tea", scope=scope, battle_id="b1", arena="default", limit=1)
    alone = await retrieval.Search(one)
    same, varied = Request(variations=["tea"]), Request(variations=["green leaf", "leaf"], limit=2)
    same.MergeFrom(one)
    varied.MergeFrom(Request(query="tea", scope=scope, battle_id="b1", arena="default"))
    assert (alone.ranking, [e.text for e in alone.evidence]) == ("bm25", ["Tea is a drink."])
    assert (await retrieval.Search(same)).ranking == "bm25"
    found = await retrieval.Search(varied)
    assert found.ranking == "bm25+variations"
    assert [e.text for e in found.evidence] == ["A leaf is green.", "Tea is a drink."]  # two rankings to one


class _Away(WordVectors):
    """A model that cannot be reached."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise Unavailable(Reason.DEADLINE, "the indexer does not answer")


async def test_a_search_without_its_model_is_unavailable(record: Database) -> None:
    await Chunks(record).add([StoredChunk("c", "p", 0, "Tea.")])
    searcher = Searcher.of(record, _Away(), MemoryIndex())
    server = rpc.serve("127.0.0.1:0", [retrieval_service(searcher)], grace=0)
    async with server as port, rpc.channel(f"127.0.0.1:{port}") as channel:
        with pytest.raises(grpc.aio.AioRpcError, match="the indexer does not answer") as raised:
            await retrieval_pb2_grpc.RetrievalStub(channel).Search(
                Request(query="tea", scope=1, arena="default")
            )
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.fixture
async def ratings(record: Database) -> AsyncIterator[ratings_pb2_grpc.RatingsStub]:
    """Boards over three battles, one of them without a vote."""
    for number, vote in enumerate([Vote.A, Vote.B, None]):
        await Battles(record).accept(samples.battle(f"b{number}"), b"", samples.NOON)
        if vote is not None:
            at = samples.NOON + timedelta(seconds=number)
            await WrittenOutcomes(record).put(outcomes_of(samples.voted(vote, at, f"b{number}"), at)[0])
    boards = Boards(WrittenOutcomes(record), Battles(record))
    server = rpc.serve("127.0.0.1:0", [ratings_service(boards)], grace=0)
    async with server as port, rpc.channel(f"127.0.0.1:{port}") as channel:
        yield ratings_pb2_grpc.RatingsStub(channel)


async def test_a_leaderboard_has_three_lenses_and_says_what_it_rests_on(
    ratings: ratings_pb2_grpc.RatingsStub,
) -> None:
    response = await ratings.GetLeaderboard(ratings_pb2.GetLeaderboardRequest(arena="default"))
    assert [board.lens for board in response.boards] == [1, 2, 3]
    human, nugget, _ = response.boards
    assert (human.scored, human.received, human.tie_policy, human.resamples) == (2, 3, "half", 0)
    assert [standing.rating for standing in human.standings] == pytest.approx([1000, 1000])
    assert (nugget.scored, len(nugget.standings)) == (0, 0)


async def test_a_system_without_a_rating_has_none_and_says_why(
    record: Database, ratings: ratings_pb2_grpc.RatingsStub
) -> None:
    await WrittenOutcomes(record).put(outcomes_of(samples.judged(Vote.A), samples.NOON)[0])
    request = ratings_pb2.GetLeaderboardRequest(arena="default", lenses=[ratings_pb2.LENS_JUDGE])
    (board,) = (await ratings.GetLeaderboard(request)).boards
    for standing in board.standings:
        assert not standing.HasField("rating")
        assert standing.unrankable


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (ratings_pb2.GetLeaderboardRequest(), "arena: String should have at least 1 character"),
        (ratings_pb2.GetLeaderboardRequest(arena="x", lenses=[0]), f"lenses.0: {LENSES}"),
        (ratings_pb2.GetLeaderboardRequest(arena="x", lenses=[1, 9]), f"lenses.1: {LENSES}"),
    ],
)
async def test_a_bad_request_for_a_board_is_refused(
    ratings: ratings_pb2_grpc.RatingsStub, request_: ratings_pb2.GetLeaderboardRequest, problem: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await ratings.GetLeaderboard(request_)
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert raised.value.details() == problem
