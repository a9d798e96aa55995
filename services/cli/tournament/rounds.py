"""Pairs in rounds: the battles first that tell most about who is better, within the budget.

    round 1: each two agents once  ->  judge  ->  strengths and their uncertainty  ->  next round  ->  ...

Strengths are Bradley-Terry's with a normal prior, so that a round after which an agent never lost has an
answer, too. The chosen pairs are listed in a file, so that the same command continues with them.
"""

import json
from collections.abc import Collection, Sequence
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nuggetstream.domain.identity import derived_id
from nuggetstream.files.formats.pairing import Pair
from nuggetstream.ratings.fitting.tally import Tally
from services.cli.tournament.pairs import drawn

Floats = NDArray[np.float64]
CHOSEN = "chosen.jsonl"
_PRIOR = 4.0  # variance of a strength in logits before any battle
_ROUNDS = 6
_STEPS = 25  # of Newton's method, which converges in a few


def next_pairs(
    pairs: Sequence[Pair], chosen: Collection[Pair], tally: Tally, budget: int, seed: int
) -> list[Pair]:
    """The pairs of the next round; none once the budget is spent.

    Args:
        pairs: All pairs of two answers.
        chosen: Those of earlier rounds.
        tally: How they were decided, ties as half a win for both.
        budget: Number of pairs of all rounds together.
        seed: Which queries are taken first.
    """
    names = sorted({name for _, *two in pairs for name in two})
    least = len({pair[1:] for pair in pairs})
    room = min(budget, len(pairs)) - len(chosen)
    if not chosen:
        return sorted(drawn(pairs, min(budget, least), seed))
    size = min(room, max(least, ceil(budget / _ROUNDS)))
    waiting: dict[tuple[int, int], list[Pair]] = {}
    for pair in sorted(set(pairs) - set(chosen), key=lambda each: derived_id(seed, *each)):
        waiting.setdefault((names.index(pair[1]), names.index(pair[2])), []).append(pair)
    theta, covariance = strengths(names, tally)
    found: list[Pair] = []
    while len(found) < size and waiting:
        i, j = max(waiting, key=lambda two: (_gain(theta, covariance, *two), two))
        found.append(waiting[i, j].pop(0))
        covariance = _after(theta, covariance, i, j)
        if not waiting[i, j]:
            del waiting[i, j]
    return found


def strengths(names: Sequence[str], tally: Tally) -> tuple[Floats, Floats]:
    """Strengths and their covariance: the mode of a Bradley-Terry likelihood with a normal prior.

    Maximises Σ s(i, j) log p(i, j) - |θ|² / (2 · 4), p(i, j) = 1 / (1 + exp(θj - θi)), with s the wins and
    half the ties; the covariance is the inverse of the negative second derivative there.

    Args:
        names: (K,) names of all agents.
        tally: Counts of some or all of them.

    Returns:
        (K,) strengths in logits, and their (K, K) covariance.

    Source: Bradley and Terry, 1952; Chen and Smith, 1984 (the prior).

    >>> theta, covariance = strengths(["x", "y"], Tally.count([]))
    >>> theta.tolist(), covariance.diagonal().tolist()
    ([0.0, 0.0], [4.0, 4.0])
    """
    count = len(names)
    won = np.zeros((count, count))
    place = [names.index(name) for name in tally.systems]
    if place:
        won[np.ix_(place, place)] = tally.wins + (tally.ties + tally.both_bad) / 2
    played, theta = won + won.T, np.zeros(count)
    for _ in range(_STEPS):
        p = expit(theta[:, None] - theta[None, :])
        gradient = (won - played * p).sum(axis=1) - theta / _PRIOR
        weight = played * p * (1 - p)
        curvature = np.diag(weight.sum(axis=1) + 1 / _PRIOR) - weight
        theta = np.asarray(theta + np.linalg.solve(curvature, gradient), dtype=np.float64)
    return theta, np.asarray(np.linalg.inv(curvature), dtype=np.float64)


def read_chosen(out: Path) -> list[Pair]:
    """The pairs that were chosen in a folder; none before the first round."""
    file = out / CHOSEN
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = (json.loads(line) for line in lines)
    return [(str(query), str(first), str(second)) for query, first, second in rows]


def add_chosen(out: Path, pairs: Sequence[Pair]) -> None:
    """Note the pairs of a round.

    Raises:
        OSError: The file cannot be written.
    """
    with (out / CHOSEN).open("a", encoding="utf-8") as file:
        file.write("".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs))


def _gain(theta: Floats, covariance: Floats, i: int, j: int) -> float:
    """Information that one battle of two agents is expected to add about their difference."""
    return _weight(theta, i, j) * float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])


def _after(theta: Floats, covariance: Floats, i: int, j: int) -> Floats:
    """The covariance after one more battle of two agents (Sherman and Morrison)."""
    along = covariance[:, i] - covariance[:, j]
    variance = float(along[i] - along[j])
    return covariance - np.outer(along, along) / (1 / _weight(theta, i, j) + variance)


def _weight(theta: Floats, i: int, j: int) -> float:
    return float(expit(theta[i] - theta[j]) * expit(theta[j] - theta[i]))
