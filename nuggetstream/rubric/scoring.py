"""Scores of systems, and the relevance labels that give rankings a score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.rubric.leaderboard_correlation import PRINTED_DIGITS
from nuggetstream.rubric.retrieval import Measured, Ranking, evaluate_all


class NoMeasure(ValueError):
    """A measure that cannot be computed from labels and rankings."""


class UnusedOption(ValueError):
    """An option that would be ignored, such as a measure of leaderboards, which have their scores already."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Relevance labels with the name of where they come from.

    Attributes:
        rows: One label per query and document.
        source: Name for messages and results, such as the path of a qrels file.
        remarks: What a reader must know of how the labels were read, as sentences.
    """

    rows: tuple[Relevance, ...]
    source: str = "the labels"
    remarks: tuple[str, ...] = ()

    @property
    def queries(self) -> frozenset[str]:
        """Queries with at least one label."""
        return frozenset(row.query for row in self.rows)

    def of(self, queries: frozenset[str]) -> "Labels":
        """The labels of some queries only."""
        return replace(self, rows=tuple(row for row in self.rows if row.query in queries))


@dataclass(frozen=True, slots=True)
class Scoring:
    """One way of scoring systems.

    Attributes:
        scores: System -> score, higher is better; ranks are negative.
        what: Name of the score: a column of a leaderboard, or a measure.
        source: Where the scores or labels come from.
        unscored: Systems that are there without a score.
        ranks: Whether the scores are ranks, 1 for the best, stored as negative numbers.
        remarks: What a reader must know of how the scores were read, as sentences.
    """

    scores: Mapping[str, float]
    what: str = "score"
    source: str = "the leaderboard"
    unscored: tuple[str, ...] = ()
    ranks: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems, scored or not."""
        return (*self.scores, *self.unscored)

    def shown(self, system: str) -> float | None:
        """The score of a system as its source has it; None where it has none."""
        score = self.scores.get(system)
        return -score if self.ranks and score is not None else score

    def without(self, systems: Sequence[str]) -> "Scoring":
        """The same scores with some systems left out."""
        return replace(
            self,
            scores={system: score for system, score in self.scores.items() if system not in systems},
            unscored=tuple(system for system in self.unscored if system not in systems),
        )


def score_by_labels(labels: Labels, rankings: Mapping[str, Ranking], measure: str) -> Scoring:
    """Every ranking by one measure, rounded as trec_eval prints it: leaderboards are made from that.

    Raises:
        NoMeasure: ir_measures knows no measure of this name, or it needs more than labels and rankings.
    """
    measured = measure_rankings(rankings, labels.rows, measure)
    scores = {system: round(values.mean, PRINTED_DIGITS) for system, values in measured.items()}
    return Scoring(scores=scores, what=measure, source=labels.source)


def measure_rankings(
    rankings: Mapping[str, Ranking], labels: Sequence[Relevance], measure: str
) -> dict[str, Measured]:
    """Every ranking by one measure.

    Args:
        rankings: System -> query -> documents, best first.
        labels: One per query and document.
        measure: Its name in ir_measures, such as "nDCG@10".

    Returns:
        System -> mean and values per query.

    Raises:
        NoMeasure: ir_measures knows no measure of this name, or it needs more than labels and rankings.
    """
    try:
        return evaluate_all(rankings, labels, measure)
    except (RuntimeError, ValueError) as error:
        raise NoMeasure(f"--measure: {error}") from error
