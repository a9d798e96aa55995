"""How many labels until the best five systems are known: planned pairs against pairs drawn uniformly.

    NUGGETSTREAM_DATA=DATA python -m benchmarks.asked_pairs [--runs 100] [--labels 6000] [--sets 4] [--dense]

The recorded votes of Chatbot Arena (August 2024) stand for people. A set has 20 systems drawn at random whose
fifth and sixth are at least 15 points apart by all recorded votes; below that no affordable number of labels
tells them apart. A label on a pair is one of its recorded votes, drawn with replacement. A pair with fewer
than 30 recorded votes is left out: drawn again and again, they would stand for a crowd that never doubts.
With `--dense` the systems of a set all met each other. In every run pairs are chosen five at a time, once as
`label_needs` plans them and once uniformly, and after every 20 labels the best five are compared with those
of all recorded votes. Prints per set the number of labels from which on at least 95% of the runs are right,
and their ratio.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nuggetstream.fidelity.ratings import arena_votes
from nuggetstream.ratings.fitting.bradley_terry import fit
from nuggetstream.ratings.fitting.intervals import ELO_PER_LOGIT
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.planning import TOP, best_systems, label_needs
from nuggetstream.ratings.ties import TiePolicy

SYSTEMS = 20
AT_ONCE = 5  # workers who are given a pair before one of them answers
_STEP = 20  # labels between two looks at the best five
_GAP = 15.0  # Elo points between the fifth and the sixth
_RIGHT = 0.95
_VOTES = 30  # recorded ones of a pair that can be asked
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Crowd:
    """Recorded votes that stand for people.

    Attributes:
        votes: The votes of the systems of a set.
        pairs: Pairs of systems with recorded votes.
        best: The best five by all votes.
        gap: Elo points between the fifth and the sixth.
    """

    votes: Tally
    pairs: tuple[Pair, ...]
    best: frozenset[str]
    gap: float

    def label(self, pair: Pair, rng: np.random.Generator, into: Tally) -> None:
        """Draw a recorded vote on a pair, and count it."""
        a, b = (self.votes.systems.index(name) for name in pair)
        wins, ties = self.votes.wins, self.votes.ties + self.votes.both_bad
        counts = np.array([wins[a, b], wins[b, a], ties[a, b]])
        match rng.choice(3, p=counts / counts.sum()):
            case 0:
                into.wins[a, b] += 1
            case 1:
                into.wins[b, a] += 1
            case _:
                into.ties[a, b] += 1
                into.ties[b, a] += 1


def often_asked(votes: Tally) -> Tally:
    """The votes of pairs that have at least 30."""
    often = votes.wins + votes.wins.T + votes.ties + votes.both_bad >= _VOTES
    return Tally(votes.systems, votes.wins * often, votes.ties * often, votes.both_bad * often)


def drawn(votes: Tally, rng: np.random.Generator, *, dense: bool) -> NDArray[np.intp]:
    """Indices of 20 systems, or of up to 20 that all met each other."""
    order = rng.permutation(len(votes.systems))
    if not dense:
        return np.sort(order[:SYSTEMS])
    points, chosen = votes.points(TiePolicy.HALF), list[int]()
    for each in order:
        if len(chosen) < SYSTEMS and all(points[each, other] + points[other, each] > 0 for other in chosen):
            chosen.append(int(each))
    return np.sort(np.array(chosen, dtype=np.intp))


def crowds(votes: Tally, rng: np.random.Generator, *, dense: bool = False) -> Iterator[Crowd]:
    """Sets of systems, drawn at random, whose best five can be told."""
    while True:
        index = drawn(votes, rng, dense=dense)
        if len(index) <= 2 * TOP:
            continue
        square = np.ix_(index, index)
        part = Tally(
            tuple(votes.systems[each] for each in index),
            votes.wins[square],
            votes.ties[square],
            votes.both_bad[square],
        )
        points = part.points(TiePolicy.HALF)
        try:
            theta = fit(points)
        except NotConverged:  # not all of them can be compared
            continue
        order = np.argsort(-theta)
        gap = ELO_PER_LOGIT * float(theta[order[TOP - 1]] - theta[order[TOP]])
        if gap >= _GAP:
            met = np.argwhere(np.triu(points + points.T > 0, 1))
            pairs = tuple((part.systems[a], part.systems[b]) for a, b in met)
            yield Crowd(part, pairs, frozenset(part.systems[each] for each in order[:TOP]), gap)


def right(crowd: Crowd, labels: int, rng: np.random.Generator, *, planned: bool) -> list[bool]:
    """Whether the best five are right, after every 20 labels of one run."""
    empty: NDArray[np.float64] = np.zeros_like(crowd.votes.wins)
    known = replace(crowd.votes, wins=empty.copy(), ties=empty.copy(), both_bad=empty)
    found = []
    for count in range(AT_ONCE, labels + 1, AT_ONCE):
        if planned:
            chosen = [(need.a, need.b) for need in label_needs(known, crowd.pairs)[:AT_ONCE]]
        else:
            chosen = [crowd.pairs[each] for each in rng.integers(len(crowd.pairs), size=AT_ONCE)]
        for pair in chosen:
            crowd.label(pair, rng, known)
        if count % _STEP:
            continue
        found.append(frozenset(best_systems(known)) == crowd.best)
    return found


def labels_needed(runs: Sequence[Sequence[bool]]) -> int | None:
    """Labels from which on at least 95% of the runs are right; None where they never are."""
    share = np.mean(np.array(runs), axis=0)
    enough = np.flip(np.minimum.accumulate(np.flip(share))) >= _RIGHT
    return None if not enough.any() else (int(np.argmax(enough)) + 1) * _STEP


def main() -> None:
    """Print one line per set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--labels", type=int, default=6000)
    parser.add_argument("--sets", type=int, default=4)
    parser.add_argument("--dense", action="store_true", help="Only systems that all met each other.")
    given = parser.parse_args()
    votes = often_asked(arena_votes(Path(os.environ["NUGGETSTREAM_DATA"]) / "lmsys_2024_08"))
    source = crowds(votes, np.random.default_rng(1), dense=given.dense)
    for number in range(1, given.sets + 1):
        crowd = next(source)
        needed = {
            planned: labels_needed(
                [
                    right(crowd, given.labels, np.random.default_rng([number, run]), planned=planned)
                    for run in range(given.runs)
                ]
            )
            for planned in (False, True)
        }
        uniform, planned = needed[False], needed[True]
        ratio = f"{planned / uniform:.2f}" if planned and uniform else "unknown"
        size = f"{len(crowd.votes.systems)} systems, {len(crowd.pairs)} pairs, gap {crowd.gap:.0f} points"
        needs = f"uniform {uniform}, planned {planned}, ratio {ratio}"
        print(f"set {number}: {size}; labels for 95%: {needs}", flush=True)


if __name__ == "__main__":
    main()
