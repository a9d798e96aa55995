"""Do two ways of scoring put the same systems in the same order?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.rubric.retrieval import Ranking, evaluate_all
from nuggetstream.statistics.ranks import kendall, spearman

# trec_eval prints four digits, and leaderboards are made from what it prints.
PRINTED_DIGITS = 4


class NoCommonOrder(ValueError):
    """Fewer than two systems in both, or one side scores all alike: there is no order to compare."""


@dataclass(frozen=True, slots=True)
class LeaderboardCorrelation:
    """Agreement of two leaderboards, in [-1, 1], 1 is the same order.

    Attributes:
        spearman: rank correlation, tied ranks averaged.
        kendall: tau-b.
        systems: compared.
        left_out: systems that only one of the two knows.
    """

    spearman: float
    kendall: float
    systems: int
    left_out: tuple[str, ...]


def correlate(first: Mapping[str, float], second: Mapping[str, float]) -> LeaderboardCorrelation:
    """Correlate two scorings of the same systems; both must point the same way (higher is better).

    Raises:
        NoCommonOrder: fewer than two common systems, or all equal on one side.
        ValueError: a score is not finite.

    >>> correlate({"a": 3, "b": 2, "c": 1}, {"a": 30, "b": 10, "c": 20}).spearman
    0.5
    """
    common = [system for system in first if system in second]
    x, y = [first[system] for system in common], [second[system] for system in common]
    rho, tau = spearman(x, y), kendall(x, y)
    if rho is None or tau is None:
        raise NoCommonOrder(f"{len(common)} common systems give no two orders to compare")
    alone = tuple(sorted(set(first) ^ set(second)))
    return LeaderboardCorrelation(rho.coefficient, tau.coefficient, len(common), alone)


def printed_scores(rankings: Mapping[str, Ranking], labels: Sequence[Relevance], k: int) -> dict[str, float]:
    """System -> nDCG@k rounded to the digits trec_eval prints."""
    measured = evaluate_all(rankings, labels, f"nDCG@{k}")
    return {run: round(found.mean, PRINTED_DIGITS) for run, found in measured.items()}


def official_order(scores: Mapping[str, float]) -> dict[str, float]:
    """System -> minus its place on an official leaderboard, so that higher is better.

    Places are 1, 2, 3... without ties: systems with equal printed scores stand in reverse alphabetical
    order, the way trec_eval breaks ties.

    >>> official_order({"TUA1": 0.7, "test1": 0.7, "bm25": 0.5})
    {'test1': -1.0, 'TUA1': -2.0, 'bm25': -3.0}
    """
    names = sorted(sorted(scores, reverse=True), key=lambda name: -scores[name])
    return {name: -float(place) for place, name in enumerate(names, 1)}
