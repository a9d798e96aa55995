"""A second opinion on the order of what a search found: a model that reads query and passage together."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import structlog
from numpy.typing import NDArray

from services.retriever.index import Hit
from services.runtime import metrics
from services.runtime.errors import BudgetExceeded, Outage, Unavailable

log = structlog.get_logger(__name__)

_PAUSE_S = 10.0  # after a failure, so that not every battle waits for a model that is away


class Reranker(Protocol):
    """Scores passages for a query."""

    @property
    def model(self) -> str:
        """Name of the model."""

    async def ready(self) -> None:
        """Return once the model is loaded; at once where it is behind a URL.

        Raises:
            Unavailable: It cannot be loaded.
        """

    async def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The relevance of each text, shape (len(texts),); higher is better, comparable within one call.

        Raises:
            Unavailable: There are no scores, whatever the reason.
            BudgetExceeded: They do not fit the budget of the battle or of the day.
        """


@dataclass(slots=True)
class Reranking:
    """Orders what a search found. Where the reranker fails, the order of the search stays.

    Attributes:
        reranker: The model.
        timeout_s: Seconds after which the order of the search is taken; loading the model does not count.
        candidates: Number of chunks that a search finds for it.
        clock: Returns the seconds since some point in time.
    """

    reranker: Reranker
    timeout_s: float
    candidates: int = 100
    clock: Callable[[], float] = time.monotonic
    _paused_until: float = field(default=0.0, init=False)

    async def reranked(self, query: str, hits: Sequence[Hit]) -> list[Hit] | None:
        """Hits with the scores of the reranker, best first; None where there are none.

        Raises:
            Outage: The database, in which calls are booked, does not answer.
        """
        if not hits:
            return None
        if self.clock() < self._paused_until:
            self._count("skipped")
            return None
        try:
            await self.reranker.ready()
            async with asyncio.timeout(self.timeout_s):
                scores = await self.reranker.scores(query, [chunk.text for chunk, _ in hits])
        except BudgetExceeded as error:
            log.warning("the order of the search stays: no budget for the reranker", why=error.detail)
            self._count("over_budget")
            return None
        except Outage:
            raise
        except (TimeoutError, Unavailable) as error:
            why = error.detail if isinstance(error, Unavailable) else f"no answer within {self.timeout_s:g} s"
            log.warning("the order of the search stays: the reranker failed", why=why)
            self._paused_until = self.clock() + _PAUSE_S
            self._count("failed")
            return None
        self._count("ok")
        order = np.argsort(-scores, kind="stable")
        return [(hits[i][0], float(scores[i])) for i in order]

    def _count(self, outcome: str) -> None:
        metrics.RERANKS.labels(self.reranker.model, outcome).inc()
