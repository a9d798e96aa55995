"""How well scores from aspects do on answers that they were not fitted to, and how far a judge is off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.aspects.ratings import HumanMeans, ModelRating
from nuggetstream.aspects.weights import features
from nuggetstream.statistics.agreement import clustered_interval
from nuggetstream.statistics.ranks import pearson

SPLITS = 1000
_TEST_SHARE = 5  # one answer of five is tested
_FEWEST = 25  # answers; a fifth of fewer is too small for a correlation
_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """A score that is fitted to four fifths of the answers that people rated, and tested on the others.

    Attributes:
        score: Name of the score.
        published: Pearson's r that the paper prints, for a split of its own.
        pearson: Mean of Pearson's r over random splits, in [-1, 1], higher is better.
        low: Quantile 2.5% of r over the splits.
        high: Quantile 97.5%.
    """

    score: str
    published: float
    pearson: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AspectError:
    """How far a judge's ratings of one aspect are from the means of people.

    Attributes:
        aspect: Name of the aspect; of amount and formality the distance from "right" is compared.
        answers: Number of answers that both rated.
        error: Mean of |judge - people|, in units of the scale.
        low: Lower bound of its 95% interval, a bootstrap over answers.
        high: Upper bound.
        bias: Mean of judge - people.
    """

    aspect: str
    answers: int
    error: float
    low: float
    high: float
    bias: float


def held_out_scores(people: Sequence[HumanMeans], depth: int, seed: int) -> tuple[HeldOutScore, ...]:
    """Pearson's r on held-out answers of fitted weights and of a tree, both from people's own aspects.

    Args:
        people: Means over raters, one entry per answer.
        depth: Depth of the tree.
        seed: Seed of the splits.

    Returns:
        Two scores; none with fewer than 25 answers, or where acceptability never varies.

    Source: "Weighted aspects for long-form answers", which prints 0.853 and 0.830 for one split into 80% and
        20%. Both lie among our splits where every single rating is an entry (F21b), 0.853 among the
        highest; means of raters, which vary less, follow acceptability more closely.
    """
    from sklearn.linear_model import LinearRegression
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(seed)
    design = np.array([features(means.aspects) for means in people]).reshape(-1, 3)
    accepted = np.array([means.acceptability for means in people])
    scores = {("weights", 0.853): LinearRegression(), ("tree", 0.830): DecisionTreeRegressor(max_depth=depth)}
    coefficients: dict[tuple[str, float], list[float]] = {}
    for _ in range(SPLITS if len(people) >= _FEWEST else 0):
        order = rng.permutation(len(people))
        test, train = np.split(order, [len(people) // _TEST_SHARE])
        for name, model in scores.items():
            predicted = model.fit(design[train], accepted[train]).predict(design[test])
            if correlation := pearson(predicted.tolist(), accepted[test].tolist()):
                coefficients.setdefault(name, []).append(correlation.coefficient)
    return tuple(
        HeldOutScore(*name, float(np.mean(own)), *map(float, np.quantile(own, [0.025, 0.975])))
        for name, own in coefficients.items()
    )


def aspect_errors(
    judge: Mapping[str, ModelRating], people: Mapping[str, HumanMeans], seed: int
) -> tuple[AspectError, ...]:
    """The error of a judge in each aspect, and of its overall rating against acceptability.

    Args:
        judge: Answer -> rating by the judge.
        people: Answer -> means over raters, with an answer in common.
        seed: Seed of the bootstrap.
    """
    both = [answer for answer in judge if answer in people]
    ours = [(*_distances(judge[answer]), judge[answer].overall) for answer in both]
    theirs = [(*_distances(people[answer]), people[answer].acceptability) for answer in both]
    differences = (np.array(ours) - np.array(theirs)).T
    names = ("factuality", "amount", "formality", "acceptability")
    bounds = [
        clustered_interval(np.abs(own), both, np.random.default_rng(seed), _RESAMPLES) for own in differences
    ]
    return tuple(
        AspectError(
            aspect=name,
            answers=len(both),
            error=float(np.abs(own).mean()),
            low=low,
            high=high,
            bias=float(own.mean()),
        )
        for name, own, (low, high) in zip(names, differences, bounds, strict=True)
    )


def _distances(rated: ModelRating | HumanMeans) -> tuple[float, float, float]:
    return rated.aspects.factuality, abs(rated.aspects.amount), abs(rated.aspects.formality)
