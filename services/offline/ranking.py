"""An embedding model and a reranker that are none, for runs that may ask no endpoint.

    POST /v1/embeddings    POST /v1/rerank

Texts that share words have similar vectors, and the reranker keeps the order of the search.
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from services.offline.app import create_app
from services.offline.heuristics.text import terms
from services.offline.heuristics.vectors import Matrix

_DIMENSIONS = 256
_FLOOR = 1e-3  # in every dimension, so that a text without a word has a vector, too


def word_vectors(texts: Sequence[str]) -> Matrix:
    """One L2-normalised bag of words per text.

    >>> near, far = word_vectors(["tides of the sea", "the sea", "prices"])[1:] @ word_vectors(["the sea"])[0]
    >>> bool(near > 0.9 > far)
    True
    """
    rows = np.full((len(texts), _DIMENSIONS), _FLOOR, dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for term in terms(text):
            row[crc32(term.encode()) % _DIMENSIONS] += 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def create_ranking_app() -> Starlette:
    """The application. It counts no tokens of a reranking, as most rerankers."""
    return Starlette(
        routes=[Route("/v1/rerank", _rerank, methods=["POST"]), Mount("/", create_app(word_vectors))]
    )


async def _rerank(request: Request) -> Response:
    passages = (await request.json())["documents"]
    scores = [{"index": index, "relevance_score": -float(index)} for index in range(len(passages))]
    return JSONResponse({"results": scores})
