"""The grounding of nuggets, and the preference on grounded nuggets, as JSON."""

from datetime import datetime

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.nugget import Grounding, Quotation
from nuggetstream.views.common import View


class ProvenanceView(View):
    """Where a nugget was found: "answer:a", "answer:b", "answer:other" (another battle's) or a chunk's id."""

    document: str
    url: str | None = None
    fetched_at: datetime | None = None


class WithGrounding(View):
    """What says whether a source states a nugget."""

    grounding: Grounding | None = None
    """Null where it is not known. An answer without an answer-only or disputed nugget misses nothing."""
    quotation: Quotation | None = None
    """What shows the grounding; null where no sentence could be named."""

    @property
    def is_unconfirmed(self) -> bool:
        """Whether only an answer states it, or it is disputed."""
        return self.grounding in (Grounding.ANSWER_ONLY, Grounding.DISPUTED)


class GroundedVerdictView(View):
    """The All Scores of both answers on those nuggets alone that a source states, and what follows."""

    a: float
    b: float
    margin: float
    preference: Vote
    nuggets: int
    """Number of grounded nuggets."""
