"""How often do intervals tell systems apart that are equal?

    python -m benchmarks.equal_systems [--runs 2000] [--votes 600] [--resamples 1000]

Every vote is between two systems drawn at random, all equally good: each wins as often as the other, and a
share of the votes are ties. A cell has so many systems and such a share of ties. In every run the same votes
are rated twice, with the default bootstrap and with the sandwich. Two systems are told apart where the 95%
interval of the difference of their ratings is on one side of zero: in 5% of all pairs, if intervals are as
wide as they say. Prints that share with a 95% interval over runs, the share of runs in which any pair is told
apart, and how much more often the bootstrap tells a pair apart than the sandwich does on the same votes.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fit import fitted
from nuggetstream.ratings.fitting.tally import Tally, rankable
from nuggetstream.ratings.fitting.votes import Counted
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.statistics.proportion import two_sided_z, wilson

CELLS = tuple(product((2, 5, 20), (0.0, 0.3)))  # systems, share of ties
_METHODS = (Intervals.BOOTSTRAP, Intervals.SANDWICH)


@dataclass(slots=True)
class Cell:
    """Share of the pairs that each method tells apart, one row per run that can be rated."""

    apart: list[tuple[float, ...]] = field(default_factory=list)


def equal_votes(rng: np.random.Generator, systems: int, ties: float, votes: int) -> Tally:
    """Votes between equal systems."""
    first = rng.integers(0, systems, votes)
    second = (first + rng.integers(1, systems, votes)) % systems
    tied = rng.random(votes) < ties
    wins, drawn, none = np.zeros((3, systems, systems))
    np.add.at(wins, (first[~tied], second[~tied]), 1)
    np.add.at(drawn, (first[tied], second[tied]), 1)
    return Tally(tuple(f"s{index}" for index in range(systems)), wins, drawn + drawn.T, none)


def told_apart(tally: Tally, group: NDArray[np.intp], options: Options) -> float:
    """The share of the pairs of systems whose difference has an interval on one side of zero."""
    differences = fitted(Counted(tally), tally, group, options).differences
    pairs = np.triu_indices(len(group), 1)
    return float(np.mean((differences.low[pairs] > 0) | (differences.high[pairs] < 0)))


def measured(systems: int, ties: float, runs: int, votes: int, resamples: int) -> Cell:
    """All runs of a cell."""
    cell = Cell()
    for run in range(runs):
        tally = equal_votes(np.random.default_rng([systems, round(100 * ties), run]), systems, ties, votes)
        group = rankable(tally.points(Options().policy))[0]
        if len(group) == systems:
            options = (Options(intervals=each, resamples=resamples, seed=run) for each in _METHODS)
            cell.apart.append(tuple(told_apart(tally, group, each) for each in options))
    return cell


def around(values: Sequence[float]) -> str:
    """A mean with its 95% interval, in percent."""
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    reach = two_sided_z(0.95) * error
    return f"{100 * mean:5.2f} [{100 * (mean - reach):5.2f}, {100 * (mean + reach):5.2f}]"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--runs", type=int, default=2000, help="runs per cell")
    options.add_argument("--votes", type=int, default=600, help="votes per run")
    options.add_argument("--resamples", type=int, default=1000, help="of the bootstrap")
    chosen = options.parse_args()
    print("systems  ties  runs  pairs told apart, %: bootstrap  sandwich              difference")
    for systems, ties in CELLS:
        cell = measured(systems, ties, chosen.runs, chosen.votes, chosen.resamples)
        bootstrap, sandwich = zip(*cell.apart, strict=True)
        more = [one - other for one, other in cell.apart]
        print(f"{systems:7}{ties:6.0%}{len(more):6}  {around(bootstrap)}  {around(sandwich)}  {around(more)}")
        for method, shares in zip(_METHODS, (bootstrap, sandwich), strict=True):
            wrong = sum(share > 0 for share in shares)
            low, high = wilson(wrong, len(shares))
            print(
                f"    {method}: any pair in {wrong / len(shares):.1%} ({low:.1%} to {high:.1%}) of the runs"
            )


if __name__ == "__main__":
    main()
