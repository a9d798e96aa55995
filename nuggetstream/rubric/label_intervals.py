"""Intervals of the coefficients of two annotators' agreement, by drawing clusters of items again."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from nuggetstream.statistics.agreement import KappaWeights, weighted_kappa
from nuggetstream.statistics.cluster_bootstrap import bounds

Floats = NDArray[np.float64]

_SEED = 20250504


def kappa_intervals(
    rows: Sequence[int], columns: Sequence[int], clusters: Sequence[Hashable], scale: Sequence[float]
) -> dict[str, tuple[float, float] | None]:
    """95% intervals of the share of equal labels and of three kappas.

    Args:
        rows: Number of the first annotator's label of each item.
        columns: Number of the second one's.
        clusters: What each item is drawn with.
        scale: Value of each label, in ascending order.

    Returns:
        `observed`, `unweighted`, `linear` and `quadratic`, each a lower and an upper bound, at most 1; None
        as for `cluster_bootstrap.bounds`.

    >>> found = kappa_intervals([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], list("pqrst"), [0.0, 1.0])
    >>> found["observed"][0] < 0.6 < found["observed"][1] <= 1
    True
    """
    size = len(scale)
    cells = np.zeros((len(rows), size * size))
    cells[np.arange(len(rows)), np.array(rows) * size + np.array(columns)] = 1

    def kappa(weights: KappaWeights) -> Callable[[Floats], float | None]:
        return lambda flat: weighted_kappa(flat.reshape(size, size), weights, scale)

    coefficients: dict[str, Callable[[Floats], float | None]] = {
        "observed": lambda flat: float(np.trace(flat.reshape(size, size)) / flat.sum()),
        "unweighted": kappa(KappaWeights.NONE),
        "linear": kappa(KappaWeights.LINEAR),
        "quadratic": kappa(KappaWeights.QUADRATIC),
    }
    return {
        name: bounds(cells, clusters, coefficient, np.random.default_rng(_SEED))
        for name, coefficient in coefficients.items()
    }
