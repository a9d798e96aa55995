"""gRPC `Embedding.Embed`: the indexer's model for the other services."""

import grpc
from arena.v1 import retrieval_pb2, retrieval_pb2_grpc
from google.protobuf.descriptor import ServiceDescriptor

from services.indexer.gathering import URGENT
from services.runtime.embedding import Embedder
from services.runtime.errors import BudgetExceeded, Permanent, Unavailable
from services.runtime.rpc import Register
from services.runtime.rpc_errors import end_call
from services.runtime.rpc_work import work_of

MAX_TEXTS = 4096


class EmbeddingServicer(retrieval_pb2_grpc.EmbeddingServicer):
    """Computes vectors of texts.

    Args:
        embedder: Computes vectors that are not stored.
        storing: Stores the vectors that it computes.
    """

    def __init__(self, embedder: Embedder, storing: Embedder) -> None:
        self._embedder, self._storing = embedder, storing

    async def Embed(  # noqa: N802 - the contract's name
        self,
        request: retrieval_pb2.EmbedRequest,
        context: grpc.aio.ServicerContext[retrieval_pb2.EmbedRequest, retrieval_pb2.EmbedResponse],
    ) -> retrieval_pb2.EmbedResponse:
        """The vectors of up to 4096 texts.

        The status is INVALID_ARGUMENT for a text that the model's endpoint rejects, FAILED_PRECONDITION where
        the budget is used up, and UNAVAILABLE while the endpoint or the database does not answer.
        """
        if len(request.texts) > MAX_TEXTS:
            too_many = f"{len(request.texts)} texts; at most {MAX_TEXTS} a call"
            await end_call(context, grpc.StatusCode.INVALID_ARGUMENT, too_many)
        try:
            with work_of(context.invocation_metadata()):
                URGENT.set(not request.store)  # in the task of this call
                embedder = self._storing if request.store else self._embedder
                rows = await embedder.embed(list(request.texts))
        except BudgetExceeded as error:
            await end_call(context, grpc.StatusCode.FAILED_PRECONDITION, error.detail)
        except Permanent as error:
            await end_call(context, grpc.StatusCode.INVALID_ARGUMENT, error.detail)
        except Unavailable as error:
            await end_call(context, grpc.StatusCode.UNAVAILABLE, error.detail)
        return retrieval_pb2.EmbedResponse(
            vectors=rows.astype("<f4").tobytes(), dimensions=rows.shape[1], model=self._embedder.model
        )


def embedding_service(embedder: Embedder, storing: Embedder) -> Register:
    """A function that adds the service to a server.

    Args:
        embedder: Computes vectors that are not stored.
        storing: Stores the vectors that it computes.
    """

    def register(server: grpc.aio.Server) -> ServiceDescriptor:
        servicer = EmbeddingServicer(embedder, storing)
        retrieval_pb2_grpc.add_EmbeddingServicer_to_server(servicer, server)
        return retrieval_pb2.DESCRIPTOR.services_by_name["Embedding"]

    return register
