"""A small decision tree from the aspects of an answer to how acceptable people find it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.aspects.weights import AspectRating, features

TREE_DEPTH = 3
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class AcceptabilityTree:
    """A decision tree from aspects to acceptability.

    Attributes:
        rules: The tree as indented text.
        predicted: Acceptability of each answer, predicted by the tree of the folds without that answer.
    """

    rules: str
    predicted: tuple[float, ...]


def acceptability_tree(
    ratings: Sequence[AspectRating], acceptability: Sequence[float], seed: int
) -> AcceptabilityTree:
    """A regression tree of depth 3 from the three aspects, with cross-validated predictions.

    Args:
        ratings: Aspects of n answers.
        acceptability: n numbers in the same order.
        seed: Seed of the folds and of the order in which equal splits are tried.

    Raises:
        ValueError: The lengths differ, or there are fewer answers than folds.
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
