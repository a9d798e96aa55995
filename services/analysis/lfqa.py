"""Long answers rated by aspect: human raters, judge models, and the scores that combine aspects."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from services.analysis.dataset import UnusableFile
from services.core.aspects import AspectRating, features

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
        UnusableFile: it cannot be read, a field is missing, or a rating is off its scale.
    """
    votes: dict[str, list[Mapping[str, Any]]] = {}
    for row in _rows(path, ("answer_id", "factuality", "amountInfo", "formality", "acceptability")):
        votes.setdefault(row["answer_id"], []).append(row)
    try:
        return {answer: _human(rows) for answer, rows in votes.items()}
    except (TypeError, ValueError) as error:
        raise UnusableFile(f"{path}: {error}") from error


def read_model_ratings(path: Path) -> dict[str, ModelRating]:
    """Answer id -> what a judge model said.

    Raises:
        UnusableFile: it cannot be read, a field is missing or off its scale, or an answer is rated twice.
    """
    found: dict[str, ModelRating] = {}
    for row in _rows(path, ("answer_id", "factuality", "amountInfo", "formality", "overall")):
        if row["answer_id"] in found:
            raise UnusableFile(f"{path}: answer {row['answer_id']!r} is rated twice")
        try:
            aspects = AspectRating(row["factuality"], row["amountInfo"], row["formality"])
            found[row["answer_id"]] = ModelRating(aspects, float(row["overall"]))
        except (TypeError, ValueError) as error:
            raise UnusableFile(f"{path}: answer {row['answer_id']!r}: {error}") from error
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


def _human(rows: Sequence[Mapping[str, Any]]) -> HumanMeans:
    factuality = float(np.mean([row["factuality"] for row in rows]))
    amount, formality = (
        float(np.mean([abs(row[name]) for row in rows])) for name in ("amountInfo", "formality")
    )
    acceptability = float(np.mean([row["acceptability"] for row in rows]))
    return HumanMeans(AspectRating(factuality, amount, formality), acceptability, len(rows))


def _rows(path: Path, fields: Sequence[str]) -> list[dict[str, Any]]:
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, ValueError) as error:
        raise UnusableFile(f"{path}: {error}") from error
    for number, row in enumerate(rows, 1):
        if missing := [name for name in fields if row.get(name) is None]:
            raise UnusableFile(f"{path}:{number}: {', '.join(missing)} missing")
    return rows
