"""Views of how the evidence of a battle was found."""

from nuggetstream.views.common import View


class RetrievalView(View):
    """How the evidence was found."""

    ranking: str
    """`hybrid` or `bm25`, with `+variations` where variations of the query were searched for, too, and
    `+rerank` where a reranker ordered the chunks."""
    left_out: int
    """Number of the best chunks that resemble the query less than required."""
    variations: list[str]
    """Variations of the query that were searched for, too."""


class WithRetrieval(View):
    """What was retrieved for a battle."""

    retrieval: RetrievalView | None = None
    """How the evidence was found; null until then."""
