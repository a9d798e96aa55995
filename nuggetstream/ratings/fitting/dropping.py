"""Drop the most influential votes, fit again, and find how few change the order of two systems."""

from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.influence import Influence
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.pairs import Pairs, Places
from nuggetstream.ratings.fitting.prior import with_prior
from nuggetstream.ratings.fitting.tally import rankable
from nuggetstream.ratings.fitting.tie_models import fit_davidson, fit_rao_kupper
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]

SAME = 1e-7  # logits: strengths closer than this are equal; a fit is exact to about 1e-10
# Of the votes that the influences ask for, and of all votes that help, so many are dropped at once.
_STEP, _MOST = 0.85, 0.1
_INTERPOLATED = 3  # guesses of the last vote needed, by the gaps before and after; then by halves
_RIVALS = 12  # tried at most
_WORTH, _SLACK = 1.1, 3  # rivals that need more than 1.1 times the fewest votes found, plus 3, are not tried
_NOTHING = 1e-9  # what is left of a weighted count after its last vote is rounding


@dataclass(frozen=True)
class Fitted:
    """Strengths of the votes that are left.

    Attributes:
        counts: (E,) votes that are left among K systems.
        policy: What a tie says.
        prior: Strength of the prior, None without one.
        group: Indices of the systems that have a strength.
        columns: Indices of the pairs whose systems both have one.
        pairs: What was fitted: these pairs among these systems, and the pseudo-battles of the prior.
        fitted: Strengths of `pairs`.
        tie: The tie parameter; None for policies without one.
    """

    counts: Pairs
    policy: TiePolicy
    prior: float | None
    group: Places
    columns: Places
    pairs: Pairs
    fitted: Floats
    tie: float | None

    @cached_property
    def theta(self) -> Floats:
        """(K,) strengths in logits; NaN for systems without one."""
        theta = np.full(self.counts.size, np.nan)
        theta[self.group] = self.fitted[: len(self.group)]
        return theta

    @cached_property
    def _influence(self) -> Influence:
        return Influence.of(self.fitted, self.pairs, self.policy, self.tie)

    def on_gap(self, i: int, j: int) -> Floats:
        """(3, E) by how much θi - θj falls when one vote is dropped, 0 where a pair was not fitted."""
        columns = np.searchsorted(self.group, [i, j])
        if len(self.columns) == len(self.pairs.first) == len(self.counts.first):  # all systems, no prior
            return self._influence.on_gap(int(columns[0]), int(columns[1]))
        fall = np.zeros((3, len(self.counts.first)))
        fall[:, self.columns] = self._influence.on_gap(int(columns[0]), int(columns[1]))[
            :, : len(self.columns)
        ]
        return fall

    def without(self, cells: Floats) -> "Fitted":
        """The fit without some votes, (3, E) of each kind."""
        left = self.counts.cells - cells
        left[left < _NOTHING] = 0.0
        return fitted(self.counts.counted(left), self.policy, self.prior, start=np.nan_to_num(self.theta))


def fitted(
    counts: Pairs, policy: TiePolicy, prior: float | None = None, start: Floats | None = None
) -> Fitted:
    """Fit those systems that have a rating.

    Args:
        counts: (E,) of one data set, under the policy.
        policy: What a tie says.
        prior: Strength of the prior; then every system with a battle has a rating.
        start: (K,) first guess.

    Returns:
        A fit of the largest group that wins link; of nobody where there is none, or where a model of ties has
        no finite solution.
    """
    group = _rated(counts, prior)
    index = np.full(counts.size, -1)  # of a system within the group
    index[group] = np.arange(len(group))
    first, second = index[counts.first], index[counts.second]
    columns = np.flatnonzero((first >= 0) & (second >= 0))
    won, lost, drawn = counts.cells[:, columns]
    pairs = Pairs(
        size=len(group), first=first[columns], second=second[columns], won=won, lost=lost, drawn=drawn
    )
    guess = None if start is None else start[group]
    if prior is not None:
        pairs = with_prior(pairs, prior)
        guess = None if guess is None else np.append(guess, 0.0)
    strengths, tie = np.empty(0), None
    try:
        if len(group) > 1:
            strengths, tie = _strengths(pairs, policy, guess)
    except NotConverged:
        if not policy.models_ties:  # a strongly connected group has a solution; this is a bug
            raise
    if not len(strengths):
        group, columns = group[:0], columns[:0]
    return Fitted(
        counts=counts,
        policy=policy,
        prior=prior,
        group=group,
        columns=columns,
        pairs=pairs,
        fitted=strengths,
        tie=tie,
    )


def _rated(counts: Pairs, prior: float | None) -> Places:
    if prior is not None:
        met = counts.played > 0
        return np.unique(np.concatenate([counts.first[met], counts.second[met]]))
    points = np.zeros((counts.size, counts.size))
    points[counts.first, counts.second] = counts.scored
    points[counts.second, counts.first] = counts.played - counts.scored
    return rankable(points)[0]


def _strengths(pairs: Pairs, policy: TiePolicy, start: Floats | None) -> tuple[Floats, float | None]:
    if not policy.models_ties:
        return fit_pairs(pairs, start), None
    fit = fit_davidson if policy is TiePolicy.DAVIDSON else fit_rao_kupper
    theta, tie = fit(pairs.counted(pairs.cells[None]), start)
    return theta[0], float(tie[0])


@dataclass(frozen=True, slots=True)
class Queue:
    """Votes in the order in which they are to be dropped, as runs of one kind each.

    Attributes:
        cells: Flat indices into (3, E).
        votes: How many votes there are of each kind; a rest below 1 counts as one.
        fall: By how much one vote lowers the gap, in descending order, all positive.
    """

    cells: Places
    votes: Floats
    fall: Floats

    @classmethod
    def of(cls, fit: Fitted, leader: int, rival: int, keep: NDArray[np.bool_]) -> "Queue":
        """All kinds that lower the gap of leader and rival, but those to keep."""
        fall = fit.on_gap(leader, rival).ravel()
        votes = np.ceil(fit.counts.cells.ravel() - _NOTHING)
        cells = np.flatnonzero((fall > 0) & (votes > 0) & ~keep.ravel())
        cells = cells[np.argsort(-fall[cells], kind="stable")]
        return cls(cells, votes[cells], fall[cells])

    def needed(self, gap: float) -> float:
        """How many votes lower the gap by so much, to first order; all of them where even all do not."""
        total = np.cumsum(self.votes * self.fall)
        run = int(np.searchsorted(total, gap))
        if run == len(total):
            return float(self.votes.sum())
        before = total[run - 1] if run else 0.0
        return float(self.votes[:run].sum() + np.ceil((gap - before) / self.fall[run]))

    def taken(self, count: int, shape: tuple[int, ...]) -> Floats:
        """(3, E) how many of each kind the first `count` votes are."""
        before = np.cumsum(self.votes) - self.votes
        flat = np.zeros(shape).ravel()
        flat[self.cells] = np.clip(count - before, 0, self.votes)
        return flat.reshape(shape)


@dataclass(frozen=True, slots=True)
class Search:
    """Looks for the fewest votes that put one of the rivals above the leader.

    Attributes:
        start: The fit of all votes.
        leader: Index of the system that is above all rivals.
        rivals: Indices of the systems of which one is to pass it.
    """

    start: Fitted
    leader: int
    rivals: Places

    def successor(self, fit: Fitted) -> int | None:
        """The best of the rivals above the leader; None where none is, or where the leader has no rating."""
        theta = fit.theta[self.rivals]
        above = theta > fit.theta[self.leader] + SAME
        return int(self.rivals[above][np.argmax(theta[above])]) if above.any() else None

    def toward(self, rival: int, limit: float) -> tuple[Fitted, int] | None:
        """Drop the votes that keep one rival below the leader, until any rival is above it.

        Args:
            rival: Index of the system whose gap to the leader is closed.
            limit: Only fewer votes than this are of interest.

        Returns:
            The fit without the votes, and their number; None where there is no such set below the limit.
        """
        fit, count, keep = self.start, 0, np.zeros_like(self.start.counts.cells, dtype=np.bool_)
        while True:
            queue = Queue.of(fit, self.leader, rival, keep)
            gap = float(fit.theta[self.leader] - fit.theta[rival])
            need = queue.needed(gap)
            if not len(queue.cells) or count + 1 >= limit or count + need > _WORTH * limit + _SLACK:
                return None
            size = int(max(1, min(_STEP * need, _MOST * queue.votes.sum())))
            step = self._step(fit, queue, size, rival)
            if step is None:
                keep.ravel()[queue.cells[0]] = True
                continue
            fit, dropped = step
            count += dropped
            if self.successor(fit) is not None:
                return (fit, count) if count < limit else None

    def _step(self, fit: Fitted, queue: Queue, size: int, rival: int) -> tuple[Fitted, int] | None:
        """The fit without the first `size` votes; without fewer if they suffice or if so many unrate one."""
        shape = fit.counts.cells.shape
        while size:
            trial = fit.without(queue.taken(size, shape))
            if self.successor(trial) is not None:
                return self._fewer(fit, queue, trial, size)
            if not np.isnan(trial.theta[[self.leader, rival]]).any():
                return trial, size
            size //= 2
        return None

    def _fewer(self, fit: Fitted, queue: Queue, enough: Fitted, size: int) -> tuple[Fitted, int]:
        """The fewest of the first `size` votes that change the order, given that all of them do."""
        shape, few, many, ahead, tries = fit.counts.cells.shape, 0, size, self._lead(fit), 0
        while many - few > 1:
            share = ahead / (ahead - self._lead(enough)) if tries < _INTERPOLATED else 0.5
            middle = min(max(few + round(share * (many - few)), few + 1), many - 1)
            trial, tries = fit.without(queue.taken(middle, shape)), tries + 1
            if self.successor(trial) is not None:
                enough, many = trial, middle
            else:
                few, ahead = middle, np.nan_to_num(self._lead(trial), nan=ahead)
        return enough, many

    def _lead(self, fit: Fitted) -> float:
        """How far the leader is above the best rated rival; NaN where no two of them are rated."""
        best = np.max(fit.theta[self.rivals], where=~np.isnan(fit.theta[self.rivals]), initial=-np.inf)
        return float(fit.theta[self.leader] - best) if np.isfinite(best) else np.nan


def fewest(search: Search) -> tuple[Fitted, int] | None:
    """The fewest votes over the rivals; None where none of those tried can be put above the leader.

    Rivals are tried in the order of the votes they need to first order: at least the gap divided by the
    largest influence, which is known without sorting, and exactly what the queue says.
    """
    start, leader = search.start, search.leader
    keep, some = np.zeros_like(start.counts.cells, dtype=np.bool_), start.counts.cells > 0
    gaps = start.theta[leader] - start.theta
    candidates: list[tuple[float, int, bool]] = []
    for rival in search.rivals[~np.isnan(gaps[search.rivals])].tolist():
        largest = float((start.on_gap(leader, rival) * some).max(initial=0.0))
        candidates.append((float(gaps[rival]) / largest if largest > 0 else np.inf, rival, False))
    heapify(candidates)
    best: tuple[Fitted, int] | None = None
    tried = 0
    while candidates and tried < _RIVALS:
        need, rival, is_sorted = heappop(candidates)
        limit = np.inf if best is None else best[1]
        if need > _WORTH * limit + _SLACK:
            break
        if is_sorted:
            best, tried = search.toward(rival, limit) or best, tried + 1
        else:
            need = Queue.of(start, leader, rival, keep).needed(float(gaps[rival]))
            heappush(candidates, (need, rival, True))
    return best
