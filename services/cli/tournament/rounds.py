"""Pairs in rounds: the battles first that tell most about who is better, within the budget.

    round 1: each two agents once  ->  judge  ->  strengths and their uncertainty  ->  next round  ->  ...

Strengths are Bradley-Terry's with a weak prior, so that a round after which an agent never lost has an
answer, too. The chosen pairs are listed in a file, so that the same command continues with them.
"""

import json
from collections.abc import Collection, Sequence
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.identity import derived_id
from nuggetstream.files.formats.pairing import Pair
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.planning import strengths_with_prior
from services.cli.tournament.pairs import drawn

Floats = NDArray[np.float64]
CHOSEN = "chosen.jsonl"
_ROUNDS = 6


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
    waiting = grouped(
        ((names.index(pair[1]), names.index(pair[2])), pair)
        for pair in sorted(set(pairs) - set(chosen), key=lambda candidate: derived_id(seed, *candidate))
    )
    theta, covariance = strengths_with_prior(tally.among(names))
    chosen_pairs: list[Pair] = []
    while len(chosen_pairs) < size and waiting:
        i, j = max(waiting, key=lambda two: (_gain(theta, covariance, *two), two))
        chosen_pairs.append(waiting[i, j].pop(0))
        covariance = _after(theta, covariance, i, j)
        if not waiting[i, j]:
            del waiting[i, j]
    return chosen_pairs


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
