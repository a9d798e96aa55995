"""How often do intervals and ranks tell systems apart that are equal, and how often systems that differ?

    python -m benchmarks.equal_systems [--runs 2000] [--only few clusters style] [--bootstrap]

Every vote is between two systems drawn at random, all equally good on average. A cell has so many systems,
votes and clusters and such a share of ties; "uneven" systems and clusters have votes as 1, 1/2, 1/3, ... say.
The votes of a cluster share a taste: every system is better or worse there by a normal number of 0.7 logits.
With style, votes follow the longer answer, and ratings at equal style are measured.

A pair is told apart where the 95% interval of its difference is on one side of zero: 5% of the pairs of equal
systems, if intervals are as wide as they say. A board is wrong where any two of its systems have different
ranks, and "singly" where any single interval says so. Prints these shares with their standard error over the
runs, the median width of a difference in Elo points, and in the last table how often a system is said to be
above another one that is 100 points below it, how many intervals of that difference hold it, and what comes
of "P(first)": its mean, and the share of the systems that are first, where it says 90% or more.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.fitting.intervals import ELO_PER_LOGIT
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.sandwich import normal_differences
from nuggetstream.ratings.fitting.style_control import StyleUndetermined, control
from nuggetstream.ratings.fitting.votes import Counted, Votes
from nuggetstream.ratings.model import OneCluster, Ratings, rate
from nuggetstream.ratings.options import Intervals, Options

Floats = NDArray[np.float64]

_TASTE, _STYLE, _APART = 0.7, 0.5, 100 / ELO_PER_LOGIT  # logits
_OPTIONS = Options(provisional_below=0)


@dataclass(frozen=True, slots=True)
class Cell:
    """Votes of one kind."""

    systems: int
    votes: int
    ties: float = 0.0
    uneven: bool = False
    clusters: int | None = None
    style: bool = False

    def __str__(self) -> str:
        clusters = "-" if self.clusters is None else str(self.clusters)
        marks = f"{' uneven' if self.uneven else ''}{' style' if self.style else ''}"
        return f"{self.systems:7} {self.votes:6} {self.ties:5.0%} {clusters:>8} {marks:<13}"


FEW = [
    Cell(systems, votes, ties, uneven)
    for votes, systems in product((30, 60, 200), (2, 3, 5, 8, 20))
    for ties, uneven in ((0.0, False), (0.3, False), (0.0, True), (0.3, True))
]
CLUSTERS = [
    Cell(systems, votes, ties, uneven, clusters)
    for clusters, (systems, votes) in product((8, 20, 50), ((2, 200), (5, 200), (5, 600), (20, 600)))
    for ties, uneven in ((0.0, False), (0.3, True))
]
STYLE = [
    Cell(systems, votes, 0.3, clusters=clusters, style=True)
    for (systems, votes), clusters in product(((2, 60), (5, 60), (5, 200), (20, 600)), (None, 8, 20))
]
GROUPS = {"few": FEW, "clusters": CLUSTERS, "style": STYLE}


@dataclass(slots=True)
class Measured:
    """What boards of a cell say: pairs, pairs told apart, any by rank, any by a single interval, width."""

    boards: list[tuple[int, int, bool, bool, float]] = field(default_factory=list)

    def add(self, low: Floats, high: Floats, ranks: Sequence[int | None]) -> None:
        """Add a board by the (K, K) bounds of its differences and its ranks."""
        pairs = np.triu_indices(len(low), 1)
        apart = (low[pairs] > 0) | (high[pairs] < 0)
        wrong = len(set(ranks) - {None}) > 1
        width = float(np.median(high[pairs] - low[pairs]))
        self.boards.append((len(apart), int(apart.sum()), wrong, bool(apart.any()), width))

    def __str__(self) -> str:
        if len(self.boards) < 2:
            return "too few boards can be rated"
        pairs, apart, wrong, singly, width = (
            np.array(column, dtype=float) for column in zip(*self.boards, strict=True)
        )
        share = apart.sum() / pairs.sum()
        error = np.sqrt(((apart - share * pairs) ** 2).sum()) / pairs.sum()
        return (
            f"{len(pairs):6}  {100 * share:5.2f} ± {100 * error:4.2f}  {100 * wrong.mean():6.1f}"
            f"  {100 * singly.mean():6.1f}  {np.median(width):7.0f}"
        )


def votes_of(cell: Cell, rng: np.random.Generator, theta: Floats) -> tuple[Ballots, Floats]:
    """Single votes of a cell, and the difference of style between the two answers of each."""
    often = 1 / np.arange(1, cell.systems + 1) if cell.uneven else np.ones(cell.systems)
    chance = np.triu(np.outer(often, often), 1).ravel()
    a, b = np.divmod(rng.choice(cell.systems**2, cell.votes, p=chance / chance.sum()), cell.systems)
    turned = rng.random(cell.votes) < 0.5
    a, b = np.where(turned, b, a), np.where(turned, a, b)
    cluster, style = np.arange(cell.votes), rng.normal(0, 1, cell.votes)
    gap = theta[a] - theta[b] + _STYLE * cell.style * style
    if cell.clusters is not None:
        weight = 1 / np.arange(1, cell.clusters + 1) if cell.uneven else np.ones(cell.clusters)
        cluster = rng.choice(cell.clusters, cell.votes, p=weight / weight.sum())
        taste = rng.normal(0, _TASTE, (cell.clusters, cell.systems))
        gap += taste[cluster, a] - taste[cluster, b]
    tie = rng.random(cell.votes) < cell.ties
    won = (rng.random(cell.votes) < expit(gap)).astype(np.float64)
    names = tuple(f"s{index:02}" for index in range(cell.systems))
    nothing = np.zeros(cell.votes, dtype=np.bool_)
    score = np.where(tie, 0.5, won)
    return Ballots(names, a, b, score, tie, nothing, np.ones(cell.votes), cluster), style[:, None]


def board(cell: Cell, rng: np.random.Generator, theta: Floats, options: Options) -> Ratings | None:
    """A board of such votes; None where no two systems can be ranked."""
    ballots, _ = votes_of(cell, rng, theta)
    votes: Votes = Counted(ballots.tally) if cell.clusters is None else ballots
    try:
        ratings = rate(votes, options)
    except OneCluster:
        return None
    return ratings if ratings.fit else None


def measured(cell: Cell, runs: int, options: Options) -> Measured:
    """All runs of a cell."""
    found, equal = Measured(), np.zeros(cell.systems)
    for run in range(runs):
        rng = np.random.default_rng([cell.systems, cell.votes, cell.clusters or 0, int(100 * cell.ties), run])
        if cell.style:
            _add_at_equal_style(found, cell, rng)
        elif (ratings := board(cell, rng, equal, options)) is not None and ratings.fit is not None:
            between = ratings.fit.differences
            found.add(between.low, between.high, [standing.rank for standing in ratings.standings])
    return found


def _add_at_equal_style(found: Measured, cell: Cell, rng: np.random.Generator) -> None:
    ballots, style = votes_of(cell, rng, np.zeros(cell.systems))
    try:
        fit = control(ballots, style, ("length",))
    except (StyleUndetermined, NotConverged):
        return
    between = normal_differences(fit.theta, fit.covariance, freedom=fit.freedom)
    found.add(between.low, between.high, [])


def unequal(cell: Cell, runs: int, options: Options) -> str:
    """Power, coverage and P(first) where one system is 100 points above the others, or strengths vary."""
    above, inside, pairs = 0, 0, 0
    said: list[float] = []
    first: list[bool] = []
    for run in range(runs):
        rng = np.random.default_rng([7, cell.systems, cell.votes, run])
        theta = np.zeros(cell.systems)
        theta[0] = _APART
        if (ratings := board(cell, rng, theta, options)) is not None and ratings.fit is not None:
            between = ratings.fit.differences
            best = ratings.fit.index.get("s00")
            rivals = [index for index in range(len(between.gap)) if index != best] if best is not None else []
            above += sum(bool(between.low[best, rival] > 0) for rival in rivals)
            inside += sum(
                bool(between.low[best, rival] <= 100 <= between.high[best, rival]) for rival in rivals
            )
            pairs += len(rivals)
        theta = rng.normal(0, _APART, cell.systems)
        if (ratings := board(cell, rng, theta, options)) is not None:
            for standing in ratings.standings:
                if standing.probability_first is not None and standing.probability_first >= 0.9:
                    said.append(standing.probability_first)
                    first.append(int(standing.system[1:]) == int(np.argmax(theta)))
    shown = f"{np.mean(said):.3f} {np.mean(first):.3f}" if said else "    -     -"
    return f"{pairs:6}  {100 * above / pairs:5.1f}  {100 * inside / pairs:6.1f}  {shown} {len(said):5}"


def lines(chosen: argparse.Namespace) -> Iterator[str]:
    """The tables, line by line."""
    methods = [_OPTIONS]
    if chosen.bootstrap:
        methods.append(replace(_OPTIONS, intervals=Intervals.BOOTSTRAP))
    for options in methods:
        yield f"{options.source}"
        yield (
            "systems  votes  ties clusters                 boards  pairs, %      wrong, % singly, %  width"
        )
        for name in chosen.only:
            for cell in GROUPS[name]:
                yield f"{cell} {measured(cell, chosen.runs, options)}"
        yield "systems  votes  ties clusters                  pairs  above, % inside, %  P(first) true  said"
        for cell in (Cell(2, 60), Cell(5, 60), Cell(5, 200), Cell(20, 600), Cell(5, 200, clusters=8)):
            yield f"{cell} {unequal(cell, chosen.runs, options)}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--runs", type=int, default=2000, help="runs per cell")
    options.add_argument(
        "--only", nargs="*", default=list(GROUPS), choices=list(GROUPS), help="groups of cells"
    )
    options.add_argument("--bootstrap", action="store_true", help="measure the Bayesian bootstrap, too")
    for line in lines(options.parse_args()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
