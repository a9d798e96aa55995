"""One way to compute Bradley-Terry ratings, timed: run by ratings.py in an environment of its own.

    python rating_peers.py NAME VOTES.npz RESULT.json

VOTES.npz holds the counts of every pair that met. Each peer gets them, before the clock starts, in the
cheapest form its interface takes: no one is timed reading single votes. Peers that can be told how exact to
be are asked for about what ours gives resamples, a few ten-thousandths of an Elo point. RESULT.json is
written after the fit and again after the resamples, so that a peer that hangs in the latter still shows the
former.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ELO = 400 / np.log(10)
MOST, ENOUGH = 50, 3.0  # runs; seconds after which no further one starts


@dataclass(frozen=True)
class Votes:
    """Counts of E pairs among `size` systems."""

    size: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    won: Floats
    lost: Floats
    drawn: Floats
    resamples: int

    def cells(self) -> Floats:
        """(3E,) won, lost, drawn one after the other."""
        return np.concatenate([self.won, self.lost, self.drawn])

    def draws(self, seed: int = 0) -> Floats:
        """(R, 3E) multinomial resamples of the counts, as many battles as there were."""
        cells = self.cells()
        rng = np.random.default_rng(seed)
        return rng.multinomial(int(cells.sum()), cells / cells.sum(), self.resamples).astype(float)


# Ready-made: fit counts, and fit all resamples into an (R, K) array.
Ready = tuple[Callable[[], Floats], Callable[[], Floats]]


def ours(votes: Votes) -> Ready:
    """Batched Newton on Bayesian-bootstrap weights."""
    from nuggetstream.ratings.fitting.bootstrap import draw
    from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
    from nuggetstream.ratings.fitting.newton import DRAWN
    from nuggetstream.ratings.fitting.pairs import Pairs
    from nuggetstream.ratings.options import Bootstrap

    pairs = Pairs(votes.size, votes.first, votes.second, votes.won, votes.lost, votes.drawn)

    def bootstrap() -> Floats:
        rng = np.random.default_rng(0)
        draws = draw(Bootstrap.BAYESIAN, pairs, votes.resamples, rng)
        return fit_pairs(draws, start=fit_pairs(pairs), precision=DRAWN)

    return lambda: fit_pairs(pairs), bootstrap


def evalica(votes: Votes) -> Ready:
    """Its compiled solver on one weighted row per outcome of a pair, once per resample."""
    import evalica
    import pandas as pd

    xs, ys = list(np.tile(votes.first, 3)), list(np.tile(votes.second, 3))
    outcomes = [evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw]
    winners = [outcome for outcome in outcomes for _ in votes.first]
    index = pd.Index(range(votes.size))

    def fit(cells: Floats) -> Floats:
        result = evalica.bradley_terry(
            xs, ys, winners, index=index, weights=cells, solver="pyo3", tolerance=1e-6, limit=10_000
        )
        return np.log(result.scores.reindex(range(votes.size)).to_numpy())

    return lambda: fit(votes.cells()), lambda: np.stack([fit(cells) for cells in votes.draws()])


def choix(votes: Votes) -> Ready:
    """Its spectral method on the matrix of points, once per resample."""
    import choix

    def fit(cells: Floats) -> Floats:
        won, lost, drawn = cells.reshape(3, -1)
        points = np.zeros((votes.size, votes.size))
        points[votes.first, votes.second] = won + drawn / 2
        points[votes.second, votes.first] = lost + drawn / 2
        return choix.ilsr_pairwise_dense(points, tol=1e-5)

    return lambda: fit(votes.cells()), lambda: np.stack([fit(cells) for cells in votes.draws()])


def scikit_learn(votes: Votes) -> Ready:
    """Logistic regression with two weighted rows a pair, as arenas used to do, once per resample."""
    from sklearn.linear_model import LogisticRegression

    pairs = len(votes.first)
    rows = np.zeros((2 * pairs, votes.size))
    place = np.arange(pairs)
    for block in (0, pairs):
        rows[block + place, votes.first], rows[block + place, votes.second] = 1.0, -1.0
    outcome = np.repeat([1, 0], pairs)

    def fit(cells: Floats) -> Floats:
        won, lost, drawn = cells.reshape(3, -1)
        weight = np.concatenate([won + drawn / 2, lost + drawn / 2])
        model = LogisticRegression(fit_intercept=False, C=np.inf, tol=1e-6, max_iter=1000)
        return model.fit(rows, outcome, sample_weight=weight).coef_[0]

    return lambda: fit(votes.cells()), lambda: np.stack([fit(cells) for cells in votes.draws()])


def arena_rank(votes: Votes) -> Ready:
    """Its own fit, and its own bootstrap (a pool of processes)."""
    import jax.numpy as jnp
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    cells = votes.cells()
    seen = cells > 0
    ends = np.stack([np.tile(votes.first, 3), np.tile(votes.second, 3)], axis=1)[seen]
    scores = np.repeat([1.0, 0.0, 0.5], len(votes.first))[seen]
    counts = jnp.array(cells[seen])
    data = PairDataset(
        [str(k) for k in range(votes.size)], jnp.array(ends), jnp.array(scores), counts,
        jnp.ones_like(counts), counts,
    )  # fmt: skip

    def fit() -> Floats:
        model = BradleyTerry(votes.size, ftol=0.0)
        model.fit(data)
        return np.asarray(model.params["ratings"])

    def bootstrap() -> Floats:
        model = BradleyTerry(votes.size)
        found = model.compute_ratings_and_cis(data, ci_method="bootstrap", num_bootstrap=votes.resamples)
        low, high = (np.asarray(found[end]) for end in ("rating_lower", "rating_upper"))
        return np.stack([low, high]) / ELO  # only the ends of the intervals leave it

    return fit, bootstrap


PEERS: dict[str, Callable[[Votes], Ready]] = {
    "ours": ours,
    "evalica": evalica,
    "arena-rank": arena_rank,
    "choix": choix,
    "scikit-learn": scikit_learn,
}


def seconds(call: Callable[[], Floats]) -> tuple[float, Floats]:
    """The best of many short or a few long runs, the same rule for everybody; and the last answer."""
    best, begun = np.inf, time.perf_counter()
    for _ in range(MOST):
        start = time.perf_counter()
        answer = call()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begun > ENOUGH:
            break
    return best, answer


def main(name: str, votes_path: str, result_path: str) -> None:
    with np.load(votes_path) as file:
        loaded = {key: file[key] for key in file.files}
    numbers = {key: int(loaded.pop(key)) for key in ("size", "resamples")}
    votes = Votes(numbers["size"], resamples=numbers["resamples"], **loaded)
    fit, bootstrap = PEERS[name](votes)
    fit()  # compilation and caches are nobody's rating
    taken, theta = seconds(fit)
    result: dict[str, Any] = {"fit": taken, "elo": ((theta - theta.mean()) * ELO).tolist()}
    Path(result_path).write_text(json.dumps(result), encoding="utf-8")
    if votes.resamples:
        taken, draws = seconds(bootstrap)
        draws = draws - draws.mean(axis=1, keepdims=True)
        low, high = np.quantile(draws, [0.025, 0.975], axis=0) if len(draws) > 2 else draws
        result |= {"bootstrap": taken, "width": float((high - low).mean() * ELO)}
        Path(result_path).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
