"""Grades within each topic: do two dimensions order items alike, and does overlap with the best text?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nuggetstream.statistics.agreement import clustered_interval
from nuggetstream.statistics.ranks import kendall, spearman

_SEED = 791
_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class GroupedGrade:
    """The grade of one item in one dimension.

    Attributes:
        dimension: Name of the dimension.
        topic: Name of the topic.
        item: Name of the item.
        grade: Its grade, higher is better.
        group: Group of the item that others are compared with, such as "human".
        within: What groups are compared within, such as a style; empty for one comparison of all.
        text: Text of the item; empty where it is not known.
    """

    dimension: str
    topic: str
    item: str
    grade: float
    group: str
    within: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class DimensionPair:
    """Two dimensions: the mean over topics of Kendall's tau-b of their grades, with its 95% interval.

    Topics in which one of them grades all items alike have no order, and are no topics of the mean.
    """

    first: str
    second: str
    topics: int
    tau: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BestAsReference:
    """Overlap with the best text of a topic beside the grades of its other texts.

    Attributes:
        dimension: Name of the dimension.
        measure: "BLEU" or "ROUGE-L".
        topics: Topics in which both order the other texts; at least three are needed.
        rho: Mean over topics of Spearman's rho of measure and grade, in [-1, 1].
        low: Lower bound of its 95% interval, a bootstrap over topics.
        high: Upper bound.
    """

    dimension: str
    measure: str
    topics: int
    rho: float
    low: float
    high: float


def between_dimensions(grades: Sequence[GroupedGrade]) -> Iterator[DimensionPair]:
    """Every two dimensions that have an order in a common topic."""
    by_topic: dict[str, dict[str, dict[str, float]]] = {}
    for one in grades:
        by_topic.setdefault(one.topic, {}).setdefault(one.dimension, {})[one.item] = one.grade
    for first, second in combinations(dict.fromkeys(one.dimension for one in grades), 2):
        taus = {}
        for topic, dimensions in by_topic.items():
            ours, theirs = dimensions.get(first, {}), dimensions.get(second, {})
            shared = [item for item in ours if item in theirs]
            if correlation := kendall([ours[item] for item in shared], [theirs[item] for item in shared]):
                taus[topic] = correlation.coefficient
        if taus:
            tau, low, high = _mean(taus)
            yield DimensionPair(first=first, second=second, topics=len(taus), tau=tau, low=low, high=high)


def against_best(grades: Sequence[GroupedGrade]) -> Iterator[BestAsReference]:
    """How closely overlap with the best text of each topic follows the grades; of equal ones the first.

    Args:
        grades: One entry per item and dimension; those without words are left out.

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025, reference-based
        evaluation.
    """
    if not any(one.text for one in grades):
        return
    # These load packages that grades without texts do not need.
    from nuggetstream.text.baselines import rouge_l
    from nuggetstream.text.statistics import bleu, words
    from nuggetstream.text.terms import terms

    measures: dict[str, Callable[[str, str], float]] = {
        "BLEU": lambda text, best: bleu(text, [best]),
        "ROUGE-L": lambda text, best: rouge_l(terms(text), terms(best)),
    }
    cells: dict[str, dict[str, list[GroupedGrade]]] = {}
    for one in grades:
        if words(one.text):
            cells.setdefault(one.dimension, {}).setdefault(one.topic, []).append(one)
    for dimension, topics in cells.items():
        for measure, overlap in measures.items():
            rhos = {}
            for topic, own in topics.items():
                best = max(own, key=lambda one: one.grade)
                others = [one for one in own if one is not best]
                values = [overlap(one.text, best.text) for one in others]
                if len(others) > 2 and (correlation := spearman(values, [one.grade for one in others])):
                    rhos[topic] = correlation.coefficient
            if rhos:
                rho, low, high = _mean(rhos)
                yield BestAsReference(
                    dimension=dimension, measure=measure, topics=len(rhos), rho=rho, low=low, high=high
                )


def _mean(by_topic: Mapping[str, float]) -> tuple[float, float, float]:
    """The mean over topics with its 95% interval."""
    values = np.array(list(by_topic.values()))
    bounds = clustered_interval(values, list(by_topic), np.random.default_rng(_SEED), _RESAMPLES)
    return (float(values.mean()), *bounds)
