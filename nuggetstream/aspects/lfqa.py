"""Long answers rated by aspect: human raters, judge models, and the scores that combine aspects."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nuggetstream.aspects.weights import AspectRating, features
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.records import Record, read_records

TREE_DEPTH = 3
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class HumanMeans:
    """One answer over its raters.

    Attributes:
        aspects: mean factuality, mean |amount|, mean |formality|. The distance from "just right" is
            taken per rater: one rater's "too much" and another's "too little" do not cancel out.
        acceptability: mean, 0..3.
        raters: how many.
    """

    aspects: AspectRating
    acceptability: float
    raters: int


@dataclass(frozen=True, slots=True)
class ModelRating:
    """One answer by a judge model: aspects, and its overall acceptability 0..3."""

    aspects: AspectRating
    overall: float


@dataclass(frozen=True, slots=True)
class AcceptabilityTree:
    """A decision tree from aspects to acceptability.

    Attributes:
        rules: the tree as indented text.
        predicted: per answer, by the tree of the folds that did not hold it.
    """

    rules: str
    predicted: tuple[float, ...]


def read_human_means(path: Path) -> dict[str, HumanMeans]:
    """Answer id -> means over its raters.

    Raises:
        UnusableFile: naming file, line and field: missing, no number, or off its scale.
    """
    votes: dict[str, list[tuple[AspectRating, float]]] = {}
    for record in read_records(path):
        rating = _aspects(record), _number(record, "acceptability")
        votes.setdefault(_answer(record), []).append(rating)
    return {answer: _means(ratings) for answer, ratings in votes.items()}


def read_model_ratings(path: Path) -> dict[str, ModelRating]:
    """Answer id -> what a judge model said.

    Raises:
        UnusableFile: likewise, or an answer is rated twice.
    """
    found: dict[str, ModelRating] = {}
    for record in read_records(path):
        if (answer := _answer(record)) in found:
            raise record.wrong("answer_id", f"answer {answer!r} is rated twice")
        found[answer] = ModelRating(_aspects(record), _number(record, "overall"))
    return found


def acceptability_tree(
    ratings: Sequence[AspectRating], acceptability: Sequence[float], seed: int
) -> AcceptabilityTree:
    """A regression tree of depth 3 from the three aspects, with cross-validated predictions.

    Args:
        ratings: n aspects.
        acceptability: n numbers in the same order.
        seed: of the folds and of the order in which equal splits are tried.

    Raises:
        ValueError: different lengths, or fewer answers than folds.
    """
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.tree import DecisionTreeRegressor, export_text

    if len(ratings) != len(acceptability) or len(ratings) < _FOLDS:
        raise ValueError(f"{len(ratings)} ratings and {len(acceptability)} acceptabilities make no tree")
    design = np.array([features(rating) for rating in ratings])
    tree = DecisionTreeRegressor(max_depth=TREE_DEPTH, random_state=seed)
    folds = KFold(_FOLDS, shuffle=True, random_state=seed)
    predicted = cross_val_predict(tree, design, acceptability, cv=folds)
    rules = export_text(tree.fit(design, acceptability), feature_names=["factuality", "amount", "formality"])
    return AcceptabilityTree(rules, tuple(map(float, predicted)))


def _means(ratings: Sequence[tuple[AspectRating, float]]) -> HumanMeans:
    aspects = [one for one, _ in ratings]
    means = AspectRating(
        float(np.mean([one.factuality for one in aspects])),
        float(np.mean([abs(one.amount) for one in aspects])),
        float(np.mean([abs(one.formality) for one in aspects])),
    )
    return HumanMeans(means, float(np.mean([accepted for _, accepted in ratings])), len(ratings))


def _aspects(record: Record) -> AspectRating:
    factuality, amount, formality = (
        _number(record, name) for name in ("factuality", "amountInfo", "formality")
    )
    try:
        return AspectRating(factuality, amount, formality)
    except ValueError as error:
        raise UnusableFile(f"{record.place}: {error}") from error


def _answer(record: Record) -> str:
    if (found := record.text("answer_id")) is None:
        raise record.wrong("answer_id", "is missing")
    return found


def _number(record: Record, field: str) -> float:
    if (said := record.text(field)) is None:
        raise record.wrong(field, "is missing")
    try:
        value = float(said)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise record.wrong(field, f"is {said!r}; expected a number")
    return value
