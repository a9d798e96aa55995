"""Random weights of battles: their distribution, and a memory that changes no result."""

import threading
from operator import attrgetter

import numpy as np
import pytest
from scipy import stats

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting import weights as weighing
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Counted
from nuggetstream.ratings.fitting.weights import WeightMemory, weigh
from nuggetstream.ratings.model import rate
from nuggetstream.ratings.options import Options
from tests.nuggetstream.ratings.drawn import seeded

MANY = 2**24  # bytes: room for everything here
SYSTEMS = 6


def counts_of(seed: int = 0) -> Pairs:
    rng = np.random.default_rng(seed)
    wins, ties = rng.integers(0, 40, (2, SYSTEMS, SYSTEMS)).astype(float)
    return Pairs.of(np.triu(wins, 1) + np.tril(wins, -1), np.triu(ties, 1) + np.triu(ties, 1).T)


def tally_of(more: int = 0) -> Tally:
    names = [f"system {number}" for number in range(SYSTEMS)]
    votes = [(a, b, vote, 12.0) for a in names for b in names if a != b for vote in (Vote.A, Vote.TIE)]
    return Tally.count([*votes, (names[1], names[3], Vote.A, more)])


@pytest.mark.parametrize("count", [0.3, 1.0, 4.0, 250.0])
def test_the_weight_of_a_cell_is_gamma_distributed(count: float) -> None:
    pairs = Pairs.of(np.array([[0.0, count], [2.0, 0.0]]), np.zeros((2, 2)))
    drawn = weigh(pairs, 20_000, seeded(3), None)[0, 0]
    assert stats.kstest(drawn, stats.gamma(count).cdf).pvalue > 0.001


def test_weights_of_different_cells_and_systems_are_independent() -> None:
    weights = weigh(counts_of(), 4000, seeded(1), None).reshape(-1, 4000)
    correlations = np.corrcoef(weights[weights.any(axis=1)])
    assert np.abs(correlations - np.eye(len(correlations))).max() < 5 / 4000**0.5


def test_chunks_of_resamples_differ() -> None:
    rng = seeded()
    first, second = (weigh(counts_of(), 50, rng, None) for _ in range(2))
    assert not (first == second).all()


def test_the_same_seed_gives_the_same_weights_with_and_without_a_memory() -> None:
    memory = WeightMemory(MANY)
    for seed in (1, 2, 1):
        alone = weigh(counts_of(), 50, seeded(seed), None)
        assert (weigh(counts_of(), 50, seeded(seed), memory) == alone).all()


def test_a_new_outcome_draws_the_weights_of_one_system_only(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    original = weighing._drawn

    def counting(counts: np.ndarray, resamples: int, seed: tuple[int, ...]) -> np.ndarray:
        drawn.append(seed[-1])
        return original(counts, resamples, seed)

    monkeypatch.setattr(weighing, "_drawn", counting)
    memory = WeightMemory(MANY)
    options = Options(resamples=60)
    rate(Counted(tally_of(), memory), options)
    assert drawn == list(range(SYSTEMS - 1))  # the last system has no pair with a later one
    drawn.clear()
    after = rate(Counted(tally_of(more=1), memory), options)
    assert drawn == [1]
    assert after.standings == rate(tally_of(more=1), options).standings


def test_many_small_counts_have_the_board_that_numpy_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty systems with one to nine battles per cell: numbers enough to be drawn together."""
    counts = np.random.default_rng(2).integers(1, 10, (20, 20, 2)).tolist()
    votes = [
        (f"system {a:02}", f"system {b:02}", vote, counts[a][b][kind])
        for a in range(20)
        for b in range(20)
        for kind, vote in enumerate((Vote.A, Vote.TIE))
        if a != b
    ]
    options = Options(resamples=4000)
    together = sorted(rate(Tally.count(votes), options).standings, key=attrgetter("system"))

    def by_numpy(shapes: np.ndarray, columns: int, stream: np.random.Generator) -> np.ndarray:
        return stream.standard_gamma(shapes[:, None], (len(shapes), columns)).astype(np.float32)

    monkeypatch.setattr(weighing, "gamma_rows", by_numpy)
    singly = sorted(rate(Tally.count(votes), options).standings, key=attrgetter("system"))
    assert [each.rating for each in together] == [each.rating for each in singly]
    boards = [[(each.low, each.high) for each in board] for board in (together, singly)]
    bounds = np.array(boards)
    widths = bounds[:, :, 1] - bounds[:, :, 0]
    # The standard error of such a bound of 4000 resamples is a hundredth of the width, and 40 are compared.
    assert 0 < np.abs(bounds[0] - bounds[1]).max() < 0.05 * widths.mean()
    assert abs(widths[0].mean() / widths[1].mean() - 1) < 0.01


def test_a_memory_never_keeps_more_than_its_limit() -> None:
    size = weigh(counts_of(), 50, seeded(), None).nbytes
    memory = WeightMemory(size)
    for seed in range(5):
        weigh(counts_of(), 50, seeded(seed), memory)
        assert 0 < memory.used <= size
    tiny = WeightMemory(1)
    assert (weigh(counts_of(), 50, seeded(), tiny) == weigh(counts_of(), 50, seeded(), None)).all()
    assert tiny.used == 0


def test_threads_share_a_memory() -> None:
    memory, results = WeightMemory(MANY), []

    def work() -> None:
        results.append([weigh(counts_of(number % 3), 50, seeded(), memory) for number in range(12)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = [weigh(counts_of(seed), 50, seeded(), None) for seed in range(3)]
    assert all((result[number] == alone[number % 3]).all() for result in results for number in range(12))
    assert memory.used == sum(each.nbytes for each in alone)
