"""Rank groups: systems that share a letter cannot be told apart, systems that share none differ.

This is the compact letter display of pairwise comparisons: every two systems that do not differ significantly
share at least one letter, and every two systems that do differ share none.

A letter is a set of systems of which no two differ, so the display covers the pairs that do not differ by
such sets. Inserting the differences one by one and absorbing subsets (Piepho, 2004) lists all maximal sets,
and their number can double with every difference; here each set is grown around a pair that has no letter
yet, so the time is bounded by a polynomial in K. Where overlapping intervals decide who differs, both give
the smallest number of letters.
"""

from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.sandwich import normal_differences
from nuggetstream.statistics.proportion import checked_level

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

WHOLE_BOARD = (
    "Ranks and groups hold for all systems together: at 95%, at most one in twenty boards of equal systems "
    "tells any two of them apart. Each interval stands for itself."
)


def differing(p_values: Floats, level: float) -> Flags:
    """Which systems differ, with one error rate for the whole board.

    Holm's procedure over the differences of every two systems: the smallest p-value is compared with
    α / m, the next one with α / (m - 1) and so on until one is larger. Where systems are equal, the
    probability that any two of them are told apart is at most α = 1 - level, whatever the others are. Single
    intervals say nothing of the kind: of eight equal systems 28 differences have one each.

    Args:
        p_values: (K, K) symmetric p-values of no difference.
        level: Confidence level of the board, in (0, 1).

    Returns:
        (K, K) symmetric, False on the diagonal.

    Raises:
        ValueError: A p-value is not a number.

    Source: Holm, 1979.

    >>> p_values = np.array([[1, 0.01, 0.03], [0.01, 1, 0.04], [0.03, 0.04, 1]])
    >>> differing(p_values, 0.95)[0].tolist()  # 0.01 is below 0.05 / 3, and 0.03 not below 0.05 / 2
    [False, True, False]
    """
    if np.isnan(p_values).any():
        raise ValueError("a difference without a p-value is neither significant nor not")
    pairs = np.triu_indices(len(p_values), 1)
    single = p_values[pairs]
    order = np.argsort(single, kind="stable")
    passes = single[order] < (1 - checked_level(level)) / np.arange(len(single), 0, -1)
    rejected = order[: len(order) if passes.all() else int(np.argmin(passes))]
    apart = np.zeros(p_values.shape, dtype=np.bool_)
    apart[pairs[0][rejected], pairs[1][rejected]] = True
    return apart | apart.T


def rank_groups(differs: Flags) -> tuple[tuple[int, ...], ...]:
    """Groups of systems that cannot be told apart from each other.

    Every two systems that do not differ are together in at least one group, every two that differ in none. No
    system can be added to a group, and no group can be left out.

    Args:
        differs: (K, K) whether two systems differ significantly, in rating order, the best first; symmetric
            with a False diagonal.

    Returns:
        Groups of ascending indices, in lexicographic order; every system is in at least one. Their number
        is the smallest possible where systems differ when their intervals do not overlap. In general
        finding the smallest number is NP-hard, and the result may have more; up to six systems it never has.

    Raises:
        ValueError: The matrix is not square and symmetric, or a system differs from itself.

    Source: Piepho, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons", 2004;
    growing the groups: Gramm, Guo, Hüffner, Niedermeier, Piepho and Schmid, "Algorithms for Compact Letter
    Displays: Comparison and Evaluation", 2007.

    >>> first_and_last = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> rank_groups(first_and_last)
    ((0, 1), (1, 2))
    """
    if differs.ndim != 2 or differs.shape[0] != differs.shape[1]:
        raise ValueError(f"a matrix of shape {differs.shape} does not compare systems with each other")
    if (differs != differs.T).any() or np.diag(differs).any():
        raise ValueError("differing is mutual, and no system differs from itself")
    alike = ~np.asarray(differs, dtype=np.bool_)
    shared = np.zeros(alike.shape, dtype=np.intp)  # groups that two systems, or a system and itself, share
    groups: list[NDArray[np.intp]] = []
    for system in range(len(alike)):
        while (alone := alike[system] & (shared[system] == 0)).any():
            group = _grown(system, int(np.argmax(alone)), alike, shared)
            shared[np.ix_(group, group)] += 1
            groups.append(group)
    needed = []
    for group in reversed(groups):  # a later group may cover all that an earlier one was made for
        cells = np.ix_(group, group)
        if (shared[cells] > 1).all():
            shared[cells] -= 1
        else:
            needed.append(tuple(group.tolist()))
    return tuple(sorted(needed))


def _grown(system: int, partner: int, alike: Flags, shared: NDArray[np.intp]) -> NDArray[np.intp]:
    """The group of two systems, joined by whoever brings most pairs without a group until nobody can join."""
    group = np.zeros(len(alike), dtype=np.bool_)
    group[[system, partner]] = True
    able = alike[system] & alike[partner] & ~group
    lonely = alike & (shared == 0)
    gain = lonely[system].astype(np.intp) + lonely[partner]
    while able.any():
        joins = int(np.argmax(np.where(able, gain, -1)))  # among equals the better rated
        group[joins] = True
        able &= alike[joins] & ~group
        gain += lonely[joins]
    return np.flatnonzero(group)


def letters(differs: Flags) -> tuple[str, ...]:
    """The letters of every system; systems that share a letter cannot be told apart.

    Args:
        differs: (K, K) as for `rank_groups`.

    Returns:
        K texts such as "a", "ab", "b", in the order given; the first system has "a". After "z" the alphabet
        starts again with a number behind each letter: "a2" to "z2", then "a3". So "za2" is two letters,
        "z" and "a2", and the pattern `[a-z][0-9]*` reads the letters of a text.

    Raises:
        ValueError: As `rank_groups`.

    Source: As `rank_groups`.

    >>> letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    ('a', 'ab', 'b')
    >>> letters(~np.eye(2, dtype=bool)), letters(np.zeros((2, 2), dtype=bool))
    (('a', 'b'), ('a', 'a'))
    """
    texts = [""] * len(differs)
    for number, group in enumerate(rank_groups(differs)):
        for system in group:
            texts[system] += _letter(number)
    return tuple(texts)


def ranks_by_difference(differs: Flags) -> NDArray[np.intp]:
    """1 + the number of systems above that differ from the system or from one between the two.

    No system has a better rank than one with a higher rating, and two systems of one rank do not differ, so
    they share a letter.

    Args:
        differs: (K, K) as for `rank_groups`, in rating order, the best first.

    Returns:
        (K,) ranks that never fall, lower is better.

    >>> ranks_by_difference(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)).tolist()
    [1, 1, 2]
    >>> ranks_by_difference(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)).tolist()
    [1, 2, 2]
    """
    better = np.maximum.accumulate(np.tril(differs), axis=0)  # of a row, the columns whose systems are better
    return np.asarray(1 + better.sum(axis=1))


def normal_ranks(
    theta: Floats, covariance: Floats, level: float, freedom: Floats | None = None
) -> NDArray[np.intp]:
    """Ranks by the differences of strengths whose errors are normal, or Student's t.

    Args:
        theta: (K,) strengths, in any order.
        covariance: (K, K) of them.
        level: Confidence level of the whole board, in (0, 1).
        freedom: (K,) degrees of freedom of the variances; the normal distribution when None.

    Returns:
        (K,) ranks, lower is better.

    >>> normal_ranks(np.array([0.0, 1.0, 0.9]), 0.01 * np.eye(3), 0.95).tolist()
    [3, 1, 1]
    """
    between = normal_differences(theta, covariance, level, freedom)
    order = np.argsort(-theta, kind="stable")
    ranks = np.empty(len(theta), dtype=np.intp)
    ranks[order] = ranks_by_difference(differing(between.p_value, level)[np.ix_(order, order)])
    return ranks


def _letter(number: int) -> str:
    lap, position = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[position] + (str(lap + 1) if lap else "")
