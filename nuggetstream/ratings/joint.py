"""Battles with a human vote, an automatic one, or both."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.counts import JointCount
from nuggetstream.ratings.fitting.prediction_powered import Judged
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class JointVotes:
    """M rows of battles with the same two systems and the same outcomes.

    Attributes:
        systems: K names in alphabetical order.
        a: (M,) index of system A.
        b: (M,) index of system B.
        human: (M,) points that A takes by people, in [0, 1]; NaN where people did not vote.
        automatic: (M,) points that A takes by the automatic vote; NaN where there is none.
        times: (M,) battles in the row.
    """

    systems: tuple[str, ...]
    a: Places
    b: Places
    human: Floats
    automatic: Floats
    times: Places

    @classmethod
    def of(cls, battles: Iterable[tuple[str, str, float | None, float | None, int]]) -> Self:
        """Read (system A, system B, points by people, points by the automatic vote, battles) rows.

        Raises:
            ValueError: A system battles itself, points outside [0, 1], or a negative count.
        """
        rows = list(battles)
        names = tuple(sorted({name for a, b, *_ in rows for name in (a, b)}))
        index = {name: position for position, name in enumerate(names)}
        for a, b, human, automatic, times in rows:
            if a == b:
                raise ValueError(f"system {a!r} battles itself")
            if any(points is not None and not 0 <= points <= 1 for points in (human, automatic)):
                raise ValueError(f"points of {a!r} against {b!r} are not in [0, 1]")
            if times < 0:
                raise ValueError(f"{times} battles between {a!r} and {b!r}")
        return cls(
            systems=names,
            a=np.array([index[row[0]] for row in rows], dtype=np.intp),
            b=np.array([index[row[1]] for row in rows], dtype=np.intp),
            human=np.array([np.nan if row[2] is None else row[2] for row in rows], dtype=np.float64),
            automatic=np.array([np.nan if row[3] is None else row[3] for row in rows], dtype=np.float64),
            times=np.array([row[4] for row in rows], dtype=np.intp),
        )

    @classmethod
    def of_counts(cls, counts: Iterable[JointCount], policy: TiePolicy = TiePolicy.HALF) -> Self:
        """Counts of two lenses: people first, the automatic one second; ties as the policy says."""
        return cls.of(
            (
                count.system_a,
                count.system_b,
                points_of(count.first, policy),
                points_of(count.second, policy),
                count.count,
            )
            for count in counts
        )

    @property
    def automatics(self) -> int:
        """Battles with an automatic vote."""
        return int(self.times[~np.isnan(self.automatic)].sum())

    @property
    def humans(self) -> int:
        """Battles with a human vote."""
        return int(self.times[~np.isnan(self.human)].sum())

    @property
    def both(self) -> int:
        """Battles with both votes."""
        return int(self.times[self._has_both()].sum())

    def within(self, systems: tuple[str, ...]) -> Self:
        """The rows with an automatic vote between the given systems, over their names."""
        index = np.full(len(self.systems), -1)
        for position, name in enumerate(systems):
            index[self.systems.index(name)] = position
        a, b = index[self.a], index[self.b]
        inside = np.flatnonzero((a >= 0) & (b >= 0) & ~np.isnan(self.automatic))
        return replace(self._rows(inside), systems=systems, a=a[inside], b=b[inside])

    def automatic_points(self) -> Floats:
        """(K, K) points that system i took from system j by automatic votes."""
        return self.automatic_tally().points(TiePolicy.HALF)

    def played_by_people(self) -> Floats:
        """(K, K) battles with a human vote."""
        played = np.zeros((len(self.systems), len(self.systems)))
        voted = np.flatnonzero(~np.isnan(self.human))
        np.add.at(played, (self.a[voted], self.b[voted]), self.times[voted])
        return played + played.T

    def automatic_tally(self) -> Tally:
        """Counts of the automatic votes; half a point is a tie, other fractions are shares of a win."""
        size = len(self.systems)
        wins, ties = np.zeros((size, size)), np.zeros((size, size))
        voted = np.flatnonzero(~np.isnan(self.automatic))
        a, b, score = self.a[voted], self.b[voted], self.automatic[voted]
        tied = score == Vote.TIE.points
        settled = self.times[voted] * ~tied
        np.add.at(wins, (a, b), settled * score)
        np.add.at(wins, (b, a), settled * (1 - score))
        np.add.at(ties, (a, b), self.times[voted] * tied)
        return Tally(self.systems, wins, ties + ties.T, np.zeros((size, size)))

    def battles_of(self, system: str) -> tuple[int, int]:
        """Battles of a system with both votes, and with an automatic one."""
        position = self.systems.index(system)
        own = (self.a == position) | (self.b == position)
        both, automatic = own & self._has_both(), own & ~np.isnan(self.automatic)
        return int(self.times[both].sum()), int(self.times[automatic].sum())

    def points_of(self, system: str) -> tuple[Floats, Floats, Floats]:
        """Points of a system by people and by automatic vote on the same battles, and by the latter alone."""
        position = self.systems.index(system)
        own = np.flatnonzero(((self.a == position) | (self.b == position)) & ~np.isnan(self.automatic))
        rows = self._rows(own)
        turned = rows.a != position
        human = np.where(turned, 1 - rows.human, rows.human)
        automatic = np.where(turned, 1 - rows.automatic, rows.automatic)
        both = rows._has_both()
        return (
            np.repeat(human[both], rows.times[both]),
            np.repeat(automatic[both], rows.times[both]),
            np.repeat(automatic[~both], rows.times[~both]),
        )

    def for_inference(self) -> tuple[Judged, Floats, Judged]:
        """Human votes, the automatic ones on the same battles, and the further automatic ones."""
        both = self._has_both()
        human = self._judged(both, self.human)
        return human, self._judged(both, self.automatic).score, self._judged(~both, self.automatic)

    def all_automatic(self) -> Judged:
        """Every automatic vote."""
        return self._judged(~np.isnan(self.automatic), self.automatic)

    def _judged(self, chosen: NDArray[np.bool_], score: Floats) -> Judged:
        times = self.times[chosen]
        return Judged(
            np.repeat(self.a[chosen], times),
            np.repeat(self.b[chosen], times),
            np.repeat(score[chosen], times),
        )

    def _has_both(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.human) & ~np.isnan(self.automatic)

    def _rows(self, rows: Places) -> Self:
        return replace(
            self,
            a=self.a[rows],
            b=self.b[rows],
            human=self.human[rows],
            automatic=self.automatic[rows],
            times=self.times[rows],
        )


def points_of(vote: Vote | None, policy: TiePolicy = TiePolicy.HALF) -> float | None:
    """Points that A takes by a vote; None without a vote or where the policy drops it.

    >>> points_of(Vote.TIE), points_of(Vote.TIE, TiePolicy.DROP)
    (0.5, None)
    """
    return None if vote is None or not policy.counts(vote) else vote.points
