"""gRPC `Retrieval.Search`: search for evidence."""

from datetime import UTC

import grpc
from arena.v1 import evidence_pb2, retrieval_pb2, retrieval_pb2_grpc
from google.protobuf.descriptor import ServiceDescriptor

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
    if request.scope not in _SCOPES:
        return "scope: is not specified"
    if request.scope != retrieval_pb2.SCOPE_CORPUS and not request.battle_id:
        return "battle_id: is needed unless the scope is the corpus"
    if not 0 <= request.limit <= _MAX_LIMIT:
        return f"limit: {request.limit} is not within 0 (for {EVIDENCE_LIMIT}) and {_MAX_LIMIT}"
    if problem := _problem_of_queries(request) or _problem_of_filter(request):
        return problem
    if request.scope == retrieval_pb2.SCOPE_CORPUS and not request.arena:
        return "arena: is needed when the scope is the corpus"
    return None


def _problem_of_queries(request: retrieval_pb2.SearchRequest) -> str | None:
    if not request.query.strip():
        return "query: is empty"
    if len(request.variations) > MAX_VARIATIONS:
        return f"variations: there are {len(request.variations)}; at most {MAX_VARIATIONS}"
    if not all(text.strip() for text in request.variations):
        return "variations: one is empty"
    return None


def _problem_of_filter(request: retrieval_pb2.SearchRequest) -> str | None:
    if not all(tag.strip() for tag in request.languages):
        return "languages: one is empty"
    try:
        request.fetched_after.ToDatetime(UTC)
    except (ValueError, OverflowError):
        return "fetched_after: is not a valid time"
    return None
