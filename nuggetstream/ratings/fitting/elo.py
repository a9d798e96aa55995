"""Elo tournaments: many shuffled replays of the same games, averaged.

expected = 1 / (1 + 10^((opponent - own) / 400))
rating  += K · (score - expected)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.tally import Tally

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Arithmetic(StrEnum):
    """How ratings are kept between games. Part of the result."""

    FLOAT = "float"  # what one system gains the other loses; the sum never changes
    RAGELO = "ragelo"  # cut to a whole number after every game: the sum sinks by about a point a game


@dataclass(frozen=True, slots=True)
class Games:
    """G games between K systems.

    Attributes:
        systems: K names.
        a: (G,) index of the first system.
        b: (G,) index of the second.
        score: (G,) points of the first, 1, 0 or 0.5; soft outcomes welcome.
    """

    systems: tuple[str, ...]
    a: Places
    b: Places
    score: Floats

    def __post_init__(self) -> None:
        if not len(self.a):
            raise ValueError("a tournament needs games")
        if not self.a.shape == self.b.shape == self.score.shape:
            raise ValueError(f"{len(self.a)} and {len(self.b)} systems for {len(self.score)} scores")
        if (self.a == self.b).any():
            raise ValueError("a system plays itself")
        if not ((self.score >= 0) & (self.score <= 1)).all():
            raise ValueError("a score is not in [0, 1]")

    @classmethod
    def of(cls, tally: Tally) -> "Games":
        """One game per battle; ties and "both bad" are half a point each.

        Raises:
            ValueError: counts that are not whole, or no battle at all.
        """
        drawn = np.triu(tally.ties + tally.both_bad)
        if (tally.wins % 1).any() or (drawn % 1).any():
            raise ValueError("games are whole: weighted battles cannot be played")
        rows = [
            (a, b, score, int(counts[a, b]))
            for counts, score in ((tally.wins, 1.0), (drawn, 0.5))
            for a, b in np.argwhere(counts > 0)
        ]
        times = [count for *_, count in rows]
        a, b, score = (np.repeat([row[column] for row in rows], times) for column in range(3))
        return cls(tally.systems, a.astype(np.intp), b.astype(np.intp), score.astype(np.float64))


@dataclass(frozen=True, slots=True)
class Elo:
    """What the tournaments gave.

    Attributes:
        systems: K names.
        rating: (K,) mean over tournaments; its floor in the RAGElo mode.
        deviation: (K,) standard deviation over tournaments: the luck of the order, not of the votes.
        games: (K,) games of each system in one tournament, however many tournaments there were.
        tournaments: how many.
        arithmetic: how ratings were kept.
    """

    systems: tuple[str, ...]
    rating: Floats
    deviation: Floats
    games: NDArray[np.intp]
    tournaments: int
    arithmetic: Arithmetic


def tournaments(
    games: Games,
    rng: np.random.Generator,
    *,
    rounds: int = 500,
    start: float = 1000.0,
    k: float = 32.0,
    arithmetic: Arithmetic = Arithmetic.FLOAT,
) -> Elo:
    """Play all games in `rounds` random orders and average the final ratings.

    Args:
        games: each played once in every tournament.
        rng: source of the orders.
        rounds: tournaments, at least 1; all of them are played side by side.
        start: rating of everybody before the first game.
        k: largest change a game can make.
        arithmetic: float, or as RAGElo keeps ratings.

    Returns:
        (K,) ratings in Elo points, higher is better; in float arithmetic their mean is `start`.

    Raises:
        ValueError: fewer than one round.

    Source: Elo, "The Rating of Chessplayers", 1978; Rackauckas, Câmara, Zavrel, "Evaluating RAG-Fusion
    with RAGElo", 2024.

    >>> one = Games(("x", "y"), np.array([0]), np.array([1]), np.array([1.0]))
    >>> tournaments(one, np.random.default_rng(0)).rating.tolist()
    [1016.0, 984.0]
    """
    if rounds < 1:
        raise ValueError("an average needs at least one tournament")
    order = rng.permuted(np.tile(np.arange(len(games.a)), (rounds, 1)), axis=1)
    rating, row = np.full((rounds, len(games.systems)), start), np.arange(rounds)
    for game in order.T:
        a, b = games.a[game], games.b[game]
        own, other = rating[row, a], rating[row, b]
        change = k * (games.score[game] - expected(own, other))
        rating[row, a], rating[row, b] = own + change, other - change
        if arithmetic is Arithmetic.RAGELO:
            rating[row, a], rating[row, b] = np.trunc(own + change), np.trunc(other - change)
    mean = rating.mean(axis=0)
    return Elo(
        systems=games.systems,
        rating=np.floor(mean) if arithmetic is Arithmetic.RAGELO else mean,
        deviation=rating.std(axis=0),
        games=np.bincount(np.concatenate([games.a, games.b]), minlength=len(games.systems)),
        tournaments=rounds,
        arithmetic=arithmetic,
    )


def expected(own: Floats, other: Floats) -> Floats:
    """Points a system of rating `own` takes from one of rating `other` on average, in (0, 1).

    1 / (1 + 10^((other - own) / 400))

    Args:
        own: ratings of any shape, in Elo points.
        other: ratings of the opponents, of the same shape.

    Source: Elo, 1978.

    >>> float(expected(np.array(1400.0), np.array(1000.0)).round(4))
    0.9091
    """
    return np.asarray(1 / (1 + 10 ** ((other - own) / 400)))


def win_percentages(tally: Tally) -> Floats:
    """(K, K) share in percent of the battles between i and j that i won outright; NaN where none.

    100 · wins[i, j] / (wins + losses + ties). Ties count for neither, so [i, j] and [j, i] sum to 100 less
    the percentage of ties.

    Source: Table 5 of Rackauckas, Câmara, Zavrel, 2024.
    """
    played = tally.wins + tally.wins.T + tally.ties + tally.both_bad
    return np.divide(100 * tally.wins, played, out=np.full_like(played, np.nan), where=played > 0)


def from_percentages(systems: Sequence[str], percent: Floats, games: int) -> Tally:
    """The counts behind a published table of win percentages; the rest of each pair are ties.

    Args:
        systems: K names, in the order of the table.
        percent: (K, K) percent of the games that i won against j; the diagonal is not read.
        games: of every pair.

    Raises:
        ValueError: a percentage that is negative or no whole number of games, or wins that exceed the games.
    """
    wins = np.where(np.eye(len(systems), dtype=bool), 0.0, percent * games / 100)
    if not np.allclose(wins, wins.round(), atol=1e-6):
        raise ValueError(f"the percentages are not of {games} games")
    wins = wins.round()
    ties = np.where(np.eye(len(systems), dtype=bool), 0.0, games - wins - wins.T)
    if (wins < 0).any() or (ties < 0).any():
        raise ValueError(f"a negative percentage, or more than {games} games in a pair")
    return Tally(tuple(systems), wins, ties, np.zeros_like(ties))
