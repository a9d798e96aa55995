"""A weak prior that gives every system a finite rating, also the undefeated, the winless and islands.

Every system also meets one phantom opponent, wins `strength / 2` of these pseudo-battles and loses as many.

    log-likelihood + strength / 2 · Σ (log σ(θi) + log σ(-θi)),  σ the logistic function, the phantom at zero

The penalty is log-concave and falls without bound in both directions, so the strengths are finite and unique
for any counts. In terms of chances, strength / 2 is both parameters of a Beta prior on a system's chance
against the phantom. The phantom is an average opponent: it takes half of all pseudo-points.

A prior is an opinion: a system of four wins and no loss is rated by its wins and by how much the prior doubts
them, and where no battle links two islands the prior alone decides their distance. Say so beside the ratings.

    counts = with_prior(pairs_among(tally, group, policy), strength)  # the group may be all who battled
    theta, tie = fit(counts, policy)                                  # K + 1 strengths, the phantom last
    ratings = without_phantom(theta)
    draws = with_drawn_prior(votes.resample(...), strength, rng)      # every resample, fitted in the same way
    between = covariance_without_phantom(covariance(theta, counts))

Pseudo-battles count as evidence in the intervals, too: they are resampled as battles are, or part of both
sides of the sandwich. Held fixed in every resample, they make the intervals of systems with few battles too
narrow. In a model of ties they are decided battles, so the tie parameter says that ties are a little rarer.

Source: conjugate prior of pseudo-battles: Davidson and Solomon, "A Bayesian Approach to Paired Comparison
Experimentation", 1973; resampled pseudo-battles: Rubin, "The Bayesian Bootstrap", 1981.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.fitting.pairs import Pairs

Floats = NDArray[np.float64]

PHANTOM = "(phantom)"  # the name of the phantom among the systems of ballots; always the last
_OPEN = 1e-9  # a Gamma draw may underflow to zero; the pair must stay open in both directions


def with_prior(pairs: Pairs, strength: float) -> Pairs:
    """Counts with the pseudo-battles of the prior, the same in every data set of a batch.

    Args:
        pairs: (..., E) counts among K systems, linked or not.
        strength: Pseudo-battles of every system, half of them won; greater than 0. 1 is weak: half a win
            and half a loss.

    Returns:
        (..., E + K) counts among K + 1 systems; the last one is the phantom. They are strongly connected
        whatever the counts, and vanish as the strength goes to 0.

    Raises:
        ValueError: The strength is not positive and finite.

    Source: Davidson and Solomon, 1973.

    >>> from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
    >>> undefeated = Pairs.of(np.array([[0, 5.0], [0, 0]]), np.zeros((2, 2)))
    >>> theta = without_phantom(fit_pairs(with_prior(undefeated, strength=2)))
    >>> float(np.exp(theta[0] - theta[1]).round(6))  # 3 to the phantom: 5 · 1/10 = 2 · (3/4 - 1/2)
    9.0
    """
    half = np.full((*pairs.won.shape[:-1], pairs.size), _checked(strength) / 2)
    return _widened(pairs, half, half)


def with_drawn_prior(pairs: Pairs, strength: float, rng: np.random.Generator) -> Pairs:
    """Resampled counts with resampled pseudo-battles: each weighs Exp(1), as in the Bayesian bootstrap.

    For a system that meets only the phantom this draws from its prior, Beta(strength / 2, strength / 2).

    Args:
        pairs: (..., E) counts of resamples, however they were drawn.
        strength: As `with_prior`.
        rng: Source of randomness.

    Returns:
        (..., E + K) counts among K + 1 systems; the last one is the phantom.

    Raises:
        ValueError: The strength is not positive and finite.

    Source: Rubin, 1981.
    """
    shape = (2, *pairs.won.shape[:-1], pairs.size)
    won, lost = np.maximum(rng.standard_gamma(_checked(strength) / 2, shape), _OPEN)
    return _widened(pairs, won, lost)


def ballots_with_prior(ballots: Ballots, strength: float) -> Ballots:
    """Ballots with the pseudo-battles of the prior, each a cluster of its own: for `clustered_covariance`.

    Args:
        ballots: N votes over K systems.
        strength: As `with_prior`.

    Returns:
        N + 2 K votes over K + 1 systems, the last one the phantom; a vote of the prior weighs strength / 2.
        At strength 2 their sandwich is that of `with_prior`; below 2 the prior's share of the scatter is
        smaller by the factor strength / 2.

    Raises:
        ValueError: The strength is not positive and finite, or a system has the phantom's name.

    Source: Davidson and Solomon, 1973.
    """
    weight = _checked(strength) / 2
    if PHANTOM in ballots.systems:
        raise ValueError(f"a system is called {PHANTOM!r}, as the phantom opponent is")
    size = len(ballots.systems)
    system, never = np.arange(size), np.zeros(2 * size, dtype=np.bool_)
    return replace(
        ballots,
        systems=(*ballots.systems, PHANTOM),
        a=np.concatenate([ballots.a, system, system]),
        b=np.concatenate([ballots.b, np.full(2 * size, size)]),
        score=np.concatenate([ballots.score, np.ones(size), np.zeros(size)]),
        tie=np.concatenate([ballots.tie, never]),
        both_bad=np.concatenate([ballots.both_bad, never]),
        weight=np.concatenate([ballots.weight, np.full(2 * size, weight)]),
        cluster=np.concatenate([ballots.cluster, ballots.clusters + np.arange(2 * size)]),
    )


def without_phantom(theta: Floats) -> Floats:
    """Strengths of the K systems, with mean zero.

    Args:
        theta: (..., K + 1) strengths in logits, the phantom last.

    Returns:
        (..., K) strengths in logits, mean zero.

    >>> without_phantom(np.array([3.0, 1.0, 0.5])).tolist()
    [1.0, -1.0]
    """
    systems = theta[..., :-1]
    return np.asarray(systems - systems.mean(axis=-1, keepdims=True))


def covariance_without_phantom(covariance: Floats) -> Floats:
    """Covariance of the strengths that `without_phantom` returns.

    Args:
        covariance: (K + 1, K + 1) of strengths, the phantom last.

    Returns:
        (K, K), of strengths with mean zero.
    """
    among = covariance[:-1, :-1]
    centred = among - among.mean(axis=0)
    return np.asarray(centred - centred.mean(axis=1, keepdims=True))


def _widened(pairs: Pairs, won: Floats, lost: Floats) -> Pairs:
    """The pairs, and one more of every system with the phantom."""
    system = np.arange(pairs.size)
    return Pairs(
        size=pairs.size + 1,
        first=np.concatenate([pairs.first, system]),
        second=np.concatenate([pairs.second, np.full(pairs.size, pairs.size)]),
        won=np.concatenate([pairs.won, won], axis=-1),
        lost=np.concatenate([pairs.lost, lost], axis=-1),
        drawn=np.concatenate([pairs.drawn, np.zeros_like(won)], axis=-1),
    )


def _checked(strength: float) -> float:
    if not (np.isfinite(strength) and strength > 0):
        raise ValueError(f"a prior of strength {strength}; without a prior, leave it out")
    return float(strength)
