"""Agreement, gold labels and competence in one dimension of a crowd's labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.crowd.learning import CompetenceOptions, LearnedLabels, learn
from nuggetstream.crowd.ordering import (
    AlphaByGroup,
    SessionPositions,
    SideAgreement,
    agreement_by_position,
    agreement_by_side,
)
from nuggetstream.crowd.reliability import Alpha, alpha_with_interval
from nuggetstream.crowd.scale import LabelScale
from nuggetstream.domain.worker_label import WorkerLabel

Labels = Sequence[WorkerLabel]
ALPHA_KINDS = ("agreement", "without_spam", "by_file")


@dataclass(frozen=True, slots=True)
class DimensionStudy:
    """One dimension.

    Attributes:
        name: Name of the dimension.
        scale: Its labels.
        votes: The labels that workers gave, in the order given.
        items: Number of items.
        workers: Number of workers.
        counts: Label -> number of votes.
        agreement: Alpha of all votes.
        without_spam: Alpha of the votes of workers whose learned spam probability is within the limit; None
            where competence is undefined.
        by_file: Alpha of the votes whose known spam probability is within the limit; None where none is
            known.
        learned: Gold labels and competence.
        sides: Agreement by the order in which two answers were shown; None where the order is unknown.
        places: Agreement along the session; None where no position is known.
    """

    name: str
    scale: LabelScale
    votes: tuple[WorkerLabel, ...]
    items: int
    workers: int
    counts: Mapping[str, int]
    agreement: Alpha
    without_spam: Alpha | None
    by_file: Alpha | None
    learned: LearnedLabels
    sides: SideAgreement | None
    places: AlphaByGroup | None

    def alpha(self, kind: str) -> Alpha | None:
        """Alpha of one of `ALPHA_KINDS`."""
        return {"agreement": self.agreement, "without_spam": self.without_spam, "by_file": self.by_file}[kind]


def study_dimension(
    name: str,
    scale: LabelScale,
    votes: tuple[WorkerLabel, ...],
    options: CompetenceOptions,
    sessions: SessionPositions | None,
) -> DimensionStudy:
    """Agreement, gold labels and competence in one dimension.

    Args:
        name: Name of the dimension.
        scale: Its labels.
        votes: At least one, no worker twice on an item.
        options: How competence is learned.
        sessions: Positions of items in sessions over all dimensions; None where none is known.
    """
    learned = learn(votes, scale.labels, options)
    has_known_spam = any(vote.spam is not None for vote in votes)
    counts = Counter(vote.label for vote in votes)

    def alpha(some: Labels) -> Alpha:
        return alpha_with_interval(some, scale, np.random.default_rng(options.seed))

    return DimensionStudy(
        name=name,
        scale=scale,
        votes=votes,
        items=len({vote.item for vote in votes}),
        workers=len({vote.worker for vote in votes}),
        counts={label: counts[label] for label in scale.labels},
        agreement=alpha(votes),
        without_spam=None if learned.missing else alpha(of_kept_workers(votes, learned)),
        by_file=alpha(within_limit(votes, options.limit)) if has_known_spam else None,
        learned=learned,
        sides=agreement_by_side(votes, scale),
        places=agreement_by_position(votes, scale, sessions),
    )


def of_kept_workers(votes: Labels, learned: LearnedLabels) -> list[WorkerLabel]:
    """The votes of the workers whose votes are kept."""
    kept = {worker.worker for worker in learned.workers if worker.kept}
    return [vote for vote in votes if vote.worker in kept]


def within_limit(votes: Labels, limit: float) -> list[WorkerLabel]:
    """The votes whose known spam probability is at most the limit, and those without one."""
    return [vote for vote in votes if vote.spam is None or vote.spam <= limit]
