"""Random weights of battles, drawn per system, so that a new battle changes few of them.

A board is computed again whenever one of its pairs has a new outcome. Every system has a random stream of its
own for its pairs with later systems, seeded by the system's index; the weights of a system depend on nothing
but this seed and its counts. A memory of them therefore never changes a result, only the time to the result,
and neither do threads that draw those of several systems at once.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.gamma import gamma_rows
from nuggetstream.ratings.fitting.pairs import Pairs, Places

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Key = tuple[tuple[int, ...], int, bytes]

_THREADS = 2
_WORTH_THREADS = 2**20  # numbers; fewer are drawn before threads are started
_OPEN = np.float32(1e-9)  # a Gamma draw may underflow to zero; the cell must stay open all the same


@dataclass(slots=True)
class WeightMemory:
    """The weights that were used last. Threads can share it.

    Attributes:
        limit: Most bytes kept; 1000 resamples of a hundred systems that all met take 60 MB.
    """

    limit: int
    _blocks: OrderedDict[Key, Singles] = field(default_factory=OrderedDict, init=False)
    _bytes: int = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def get(self, key: Key, draw: Callable[[], Singles]) -> Singles:
        """The weights of a key: those kept, or drawn now and kept in place of those not used for longest."""
        with self._lock:
            block = self._blocks.pop(key, None)
            if block is not None:
                self._blocks[key] = block
                return block
        drawn = draw()  # without the lock; two threads that draw the same weights draw equal ones
        with self._lock:
            if key not in self._blocks and drawn.nbytes <= self.limit:
                self._blocks[key] = drawn
                self._bytes += drawn.nbytes
            while self._bytes > self.limit:
                self._bytes -= self._blocks.popitem(last=False)[1].nbytes
        return drawn

    @property
    def used(self) -> int:
        """Bytes of the weights that are kept."""
        return self._bytes


def weigh(pairs: Pairs, resamples: int, rng: np.random.Generator, memory: WeightMemory | None) -> Singles:
    """Sums of Exp(1) weights of the battles in each cell: Gamma(count, 1).

    The weights are rounded to single precision, which halves the memory that they take: seven digits of a
    number of which not even one is certain.

    Args:
        pairs: (E,) counts.
        resamples: R.
        rng: Source of randomness, of which two numbers are used.
        memory: Weights drawn before.

    Returns:
        (3, E, R) weights of won, lost and drawn; 0 where there is no battle, positive elsewhere.

    Source: Rubin, "The Bayesian Bootstrap", 1981.
    """
    root, cells = tuple(rng.integers(2**63, size=2).tolist()), pairs.cells
    weights = np.empty((*cells.shape, resamples), dtype=np.float32)

    def weigh_system(system: int) -> None:
        places = _as_slice(np.flatnonzero(pairs.first == system))
        counts, seed = cells[:, places], (*root, system)
        if memory is None:
            weights[:, places] = _drawn(counts, resamples, seed)
            return
        key = (seed, resamples, pairs.second[places].tobytes() + counts.tobytes())
        weights[:, places] = memory.get(key, partial(_drawn, counts, resamples, seed))

    systems = np.unique(pairs.first).tolist()
    if weights.size < _WORTH_THREADS:
        for system in systems:
            weigh_system(system)
    else:  # numpy works on arrays without the interpreter's lock
        with ThreadPoolExecutor(_THREADS) as threads:
            deque(threads.map(weigh_system, systems), maxlen=0)  # raises what a system raised
    return weights


def _as_slice(places: Places) -> Places | slice:
    """The same places as a slice if they are consecutive, which copies faster."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first == len(places) - 1 else places


def _drawn(counts: Floats, resamples: int, seed: tuple[int, ...]) -> Singles:
    """(3, N, R) weights of N pairs."""
    stream = np.random.Generator(np.random.SFC64(list(seed)))
    shapes = counts.ravel()
    weights = gamma_rows(shapes, resamples, stream)
    np.maximum(weights, _OPEN, out=weights)
    weights[shapes == 0] = 0
    return weights.reshape(*counts.shape, resamples)
