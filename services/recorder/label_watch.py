"""Exports how far second assigners agree with the first, from the counters of all arenas."""

import asyncio
from collections import Counter, defaultdict

import structlog

from nuggetstream.nuggets.label_agreement import LabelPair, agreement_of
from services.runtime.errors import Unavailable
from services.runtime.metrics import LABEL_KAPPA, arena_label
from services.runtime.polling import repeat
from services.store.outcomes.label_agreement import LabelCounts

log = structlog.get_logger(__name__)
_INTERVAL = 15.0  # seconds


class LabelWatch:
    """Exports Cohen's kappa of every second assigner.

    Args:
        labels: The counters.
    """

    def __init__(self, labels: LabelCounts) -> None:
        self._labels = labels

    async def run(self, stop: asyncio.Event) -> None:
        """Measure every fifteen seconds until `stop` is set."""
        await repeat(self.measure, _INTERVAL, stop)

    async def measure(self) -> None:
        """Measure once; the last value stays while the database does not answer."""
        try:
            found = await self._labels.everywhere()
        except Unavailable as error:
            log.debug("agreement of second assigners unknown", error=str(error))
            return
        counts: dict[tuple[str, str, str], Counter[LabelPair]] = defaultdict(Counter)
        for each in found:
            counts[arena_label(each.arena), each.evaluator, each.model].update(each.counts)
        for labels, of_labels in counts.items():
            agreement = agreement_of(of_labels)
            for weights, kappa in (("quadratic", agreement.kappa), ("none", agreement.unweighted)):
                if kappa is not None:
                    LABEL_KAPPA.labels(*labels, weights).set(kappa)
