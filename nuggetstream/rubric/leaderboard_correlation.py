"""Do two ways of scoring put the same systems in the same order?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.rubric.retrieval import Ranking, evaluate_all
from nuggetstream.statistics.ranks import kendall, spearman

# trec_eval prints four digits, and leaderboards are made from what it prints.
PRINTED_DIGITS = 4


class NoCommonOrder(ValueError):
    """Fewer than two systems on both sides, or one side scores all alike: there is no order to compare."""


@dataclass(frozen=True, slots=True)
class LeaderboardCorrelation:
    """Agreement of two leaderboards; coefficients lie in [-1, 1], 1 is the same order.

    Attributes:
        spearman: Rank correlation, tied ranks averaged.
        kendall: Kendall's tau-b.
        systems: Number of systems compared.
    """

    spearman: float
    kendall: float
    systems: int


def correlate(first: Mapping[str, float], second: Mapping[str, float]) -> LeaderboardCorrelation:
    """Correlate two scorings of the same systems; both must point the same way (higher is better).

    Systems are tied where their scores are equal numbers; scores that are means should be exact, for a
    difference of 1e-16 between them is an order.

    Args:
        first: System -> score.
        second: System -> score.

    Raises:
        NoCommonOrder: Fewer than two common systems, or all equal on one side.
        ValueError: A score is not finite.

    >>> correlate({"a": 3, "b": 2, "c": 1}, {"a": 30, "b": 10, "c": 20}).spearman
    0.5
    """
    common = [system for system in first if system in second]
    x, y = [first[system] for system in common], [second[system] for system in common]
    rho, tau = spearman(x, y), kendall(x, y)
    if rho is None or tau is None:
        raise NoCommonOrder(f"{len(common)} common systems give no two orders to compare")
    return LeaderboardCorrelation(rho.coefficient, tau.coefficient, len(common))


def printed_scores(rankings: Mapping[str, Ranking], labels: Sequence[Relevance], k: int) -> dict[str, float]:
    """System -> nDCG@k rounded to the digits trec_eval prints.

    Args:
        rankings: System -> query -> documents, best first.
        labels: Of the assessors.
        k: Depth of the measure, at least 1.
    """
    measured = evaluate_all(rankings, labels, f"nDCG@{k}")
    return {system: round(values.mean, PRINTED_DIGITS) for system, values in measured.items()}


def official_order(scores: Mapping[str, float]) -> dict[str, float]:
    """System -> minus its rank on an official leaderboard, so that higher is better.

    Ranks are 1, 2, 3… without ties: systems with equal printed scores stand in reverse alphabetical order,
    the way trec_eval breaks ties.

    >>> official_order({"TUA1": 0.7, "test1": 0.7, "bm25": 0.5})
    {'test1': -1.0, 'TUA1': -2.0, 'bm25': -3.0}
    """
    systems = sorted(sorted(scores, reverse=True), key=lambda system: -scores[system])
    return {system: -float(rank) for rank, system in enumerate(systems, 1)}
