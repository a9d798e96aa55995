"""gRPC `Retrieval.Search`: search for evidence."""

from datetime import UTC

import grpc
from arena.v1 import evidence_pb2, retrieval_pb2, retrieval_pb2_grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from services.retriever.port import Filter, language_subtag
from services.retriever.search import Scope, Searcher
from services.retriever.stage import EVIDENCE_LIMIT
from services.runtime.errors import StageError
from services.runtime.rpc import Register
from services.runtime.rpc_errors import end_call
from services.runtime.rpc_work import work_of
from services.wire.convert import to_message

_MAX_LIMIT = 1000
MAX_VARIATIONS = 10  # as of a battle
_SCOPES = {
    retrieval_pb2.SCOPE_CORPUS: Scope.CORPUS,
    retrieval_pb2.SCOPE_BATTLE: Scope.BATTLE,
    retrieval_pb2.SCOPE_ANSWER_A: Scope.ANSWER_A,
    retrieval_pb2.SCOPE_ANSWER_B: Scope.ANSWER_B,
}


class RetrievalServicer(retrieval_pb2_grpc.RetrievalServicer):
    """Answers search requests."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher

    async def Search(  # noqa: N802 - the contract's name
        self,
        request: retrieval_pb2.SearchRequest,
        context: grpc.aio.ServicerContext[retrieval_pb2.SearchRequest, retrieval_pb2.SearchResponse],
    ) -> retrieval_pb2.SearchResponse:
        """The best chunks for a query within a scope.

        What it costs is booked to the battle that the metadata names, or else to the day alone.
        """
        if problem := _problem(request):
            await end_call(context, grpc.StatusCode.INVALID_ARGUMENT, problem)
        limit = request.limit or EVIDENCE_LIMIT
        queries = list(dict.fromkeys([request.query, *request.variations]))
        try:
            with work_of(context.invocation_metadata()):
                result = await self._searcher.find(
                    queries,
                    _SCOPES[request.scope],
                    request.battle_id,
                    limit,
                    arena=request.arena or None,
                    only=_filter(request),
                )
        except StageError as error:
            await end_call(context, grpc.StatusCode.UNAVAILABLE, error.detail)
        return retrieval_pb2.SearchResponse(
            evidence=[to_message(item, evidence_pb2.Evidence) for item in result.evidence],
            ranking=result.ranking,
        )


def retrieval_service(searcher: Searcher) -> Register:
    """A function that adds the service to a server."""

    def register(server: grpc.aio.Server) -> ServiceDescriptor:
        retrieval_pb2_grpc.add_RetrievalServicer_to_server(RetrievalServicer(searcher), server)
        return retrieval_pb2.DESCRIPTOR.services_by_name["Retrieval"]

    return register


def _filter(request: retrieval_pb2.SearchRequest) -> Filter:
    after = request.fetched_after.ToDatetime(UTC) if request.HasField("fetched_after") else None
    languages = {subtag for tag in request.languages if (subtag := language_subtag(tag))}
    return Filter(frozenset(languages) or None, after)


def _problem(request: retrieval_pb2.SearchRequest) -> str | None:
    """What is wrong with a request; None for a valid one."""
    of_corpus, variations = request.scope == retrieval_pb2.SCOPE_CORPUS, request.variations
    problems = {
        "scope: is not specified": request.scope not in _SCOPES,
        "battle_id: is needed unless the scope is the corpus": not of_corpus and not request.battle_id,
        f"limit: {request.limit} is not within 0 (for {EVIDENCE_LIMIT}) and {_MAX_LIMIT}": (
            not 0 <= request.limit <= _MAX_LIMIT
        ),
        "query: is empty": not request.query.strip(),
        f"variations: there are {len(variations)}; at most {MAX_VARIATIONS}": (
            len(variations) > MAX_VARIATIONS
        ),
        "variations: one is empty": not all(text.strip() for text in variations),
        "languages: one is empty": not all(tag.strip() for tag in request.languages),
        "fetched_after: is not a valid time": not _is_time(request.fetched_after),
        "arena: is needed when the scope is the corpus": of_corpus and not request.arena,
    }
    return next((problem for problem, holds in problems.items() if holds), None)


def _is_time(timestamp: Timestamp) -> bool:
    try:
        timestamp.ToDatetime(UTC)
    except (ValueError, OverflowError):
        return False
    return True
