"""Client of the embedding model in the indexer, over gRPC `Embedding.Embed`."""

from collections.abc import Sequence

import grpc
import numpy as np
from arena.v1 import retrieval_pb2, retrieval_pb2_grpc

from nuggetstream.domain.failure import Reason
from services.runtime import rpc
from services.runtime.embedding import Vectors
from services.runtime.errors import BudgetExceeded, Outage, Unavailable
from services.runtime.rpc_errors import as_stage_error, own_words
from services.runtime.rpc_work import metadata_of_work

_PER_CALL = 512


class GrpcEmbedder:
    """An `Embedder` whose model runs in the indexer.

    Args:
        target: Address of the indexer as "host:port".
        model: Name of the model that the indexer must run, because vectors of different models must not mix.
        store: Whether the indexer stores the vectors, as those of chunks.
        security: Whom it trusts; without that it speaks plain text.
    """

    def __init__(
        self,
        target: str,
        model: str,
        *,
        store: bool = False,
        security: grpc.ChannelCredentials | None = None,
    ) -> None:
        self._target, self._model, self._store = target, model, store
        self._channel = rpc.channel(target, security)
        self._stub = retrieval_pb2_grpc.EmbeddingStub(self._channel)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._model

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimensions), one row per text, in order.

        Raises:
            Outage: The indexer cannot be reached, or does not answer in time, because it has too much to do.
            Unavailable: The indexer runs another model.
            Retryable: The indexer failed with a bug.
            InvalidInput: The model's endpoint rejects a text.
            BudgetExceeded: The texts do not fit the budget.
        """
        parts = [await self._call(texts[i : i + _PER_CALL]) for i in range(0, len(texts), _PER_CALL)]
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()

    async def _call(self, texts: Sequence[str]) -> Vectors:
        request = retrieval_pb2.EmbedRequest(texts=texts, store=self._store)
        try:
            response = await self._stub.Embed(request, timeout=rpc.DEADLINE, metadata=metadata_of_work())
        except grpc.aio.AioRpcError as error:
            words = own_words(error)
            if error.code() is grpc.StatusCode.FAILED_PRECONDITION and words is not None:
                raise BudgetExceeded(words) from error
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                detail = f"the indexer is busy: no vectors within {rpc.DEADLINE:g} s"
                raise Outage(Reason.DEADLINE, detail, admin_detail=self._target) from error
            raise as_stage_error(error, "the indexer", self._target) from error
        if response.model != self._model:
            detail = f"the indexer embeds with {response.model}, not {self._model}"
            raise Unavailable(Reason.STORE_UNAVAILABLE, detail, admin_detail=self._target)
        rows = np.frombuffer(response.vectors, "<f4").reshape(len(texts), response.dimensions)
        return rows.astype(np.float32)
