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

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def differing(low: Floats, high: Floats) -> Flags:
    """Which systems differ significantly: the interval of their difference excludes zero.

    Args:
        low: (K, K) lower bounds of the differences, in any unit; -inf is allowed.
        high: (K, K) upper bounds; inf is allowed.

    Returns:
        (K, K) symmetric, False on the diagonal.

    Raises:
        ValueError: A bound is not a number.

    >>> differing(np.array([[0, -1.0], [-4, 0]]), np.array([[0, 4.0], [1, 0]])).any()
    np.False_
    >>> bool(differing(np.array([[0, 1.0], [-4, 0]]), np.array([[0, 4.0], [-1, 0]]))[0, 1])
    True
    """
    if np.isnan(low).any() or np.isnan(high).any():
        raise ValueError("a difference without a bound is neither significant nor not")
    apart = (low > 0) | (high < 0)
    return np.asarray((apart | apart.T) & ~np.eye(len(apart), dtype=np.bool_))


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
    """1 + the number of better systems: those above that differ, and those better than these.

    Two systems of one rank do not differ, so they share a letter.

    Args:
        differs: (K, K) as for `rank_groups`, in rating order, the best first.

    Returns:
        (K,) ranks, lower is better.

    >>> ranks_by_difference(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)).tolist()
    [1, 1, 2]
    """
    better = np.tril(differs)  # of a row, the columns whose systems are better
    for system in range(len(better)):
        better[system] |= better[better[system]].any(axis=0)
    return np.asarray(1 + better.sum(axis=1))


def normal_ranks(theta: Floats, covariance: Floats, level: float) -> NDArray[np.intp]:
    """Ranks by the normal intervals of the differences of strengths.

    Args:
        theta: (K,) strengths, in any order.
        covariance: (K, K) of them.
        level: Confidence level, in (0, 1).

    Returns:
        (K,) ranks, lower is better.

    >>> normal_ranks(np.array([0.0, 1.0, 0.9]), 0.01 * np.eye(3), 0.95).tolist()
    [3, 1, 1]
    """
    between = normal_differences(theta, covariance, level)
    order = np.argsort(-theta, kind="stable")
    ranks = np.empty(len(theta), dtype=np.intp)
    ranks[order] = ranks_by_difference(differing(between.low, between.high)[np.ix_(order, order)])
    return ranks


def _letter(number: int) -> str:
    lap, position = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[position] + (str(lap + 1) if lap else "")
