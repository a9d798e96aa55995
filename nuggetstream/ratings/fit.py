"""The fitted model behind a board: strengths, covariance, ratings and differences, each computed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files import tables
from nuggetstream.files.tables import Table, Tabular
from nuggetstream.ratings.fitting.ballots import Ballots, linearised
from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.estimate import estimate, fit
from nuggetstream.ratings.fitting.intervals import Differences, Estimates, Strengths, differences, summarise
from nuggetstream.ratings.fitting.prior import ballots_with_prior, covariance_without_phantom, with_prior
from nuggetstream.ratings.fitting.sandwich import (
    Undetermined,
    covariance,
    normal_differences,
    normal_draws,
    normal_ratings,
)
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Counted, Votes, pairs_among, residual
from nuggetstream.ratings.options import Anchor, AnchorNotRanked, Intervals, InvalidOption, Options

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_DRAWS = 10_000  # from the sandwich: a standard error of half a percent in a probability


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Tabular):
    """Strengths of the K systems that the votes can rank. As a table: one row per system, the best first.

    Attributes:
        votes: The votes that were fitted.
        tally: Their weighted counts.
        group: (K,) indices of the ranked systems among all systems of the votes.
        options: How they were fitted.
        strengths: (K,) strengths in logits and, for bootstrap intervals, (R, K) resampled ones.
        covariance: (K, K) covariance of the strengths; None where the votes do not give one.
    """

    votes: Votes
    tally: Tally
    group: Places
    options: Options
    strengths: Strengths

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """K names, in the order of all indices here."""
        return tuple(self.tally.systems[index] for index in self.group)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of each ranked system."""
        return {system: position for position, system in enumerate(self.systems)}

    @property
    def theta(self) -> Floats:
        """(K,) strengths in logits, mean zero."""
        return self.strengths.theta

    @cached_property
    def covariance(self) -> Floats | None:
        """(K, K) covariance in logits squared: the sandwich, or of resamples for a prior or model of ties."""
        if self.options.prior is not None and self.options.source is Intervals.SANDWICH:
            return _spread_with_prior(self, self.options.prior)[0]
        if self.options.policy.models_ties or self.options.prior is not None:
            draws = self.strengths.draws
            return None if self.strengths.unranked or len(draws) < 2 else np.asarray(np.cov(draws.T))
        try:
            matrix = self.votes.covariance(self.theta, self.group, self.options.policy)
        except Undetermined:
            return None
        return matrix if np.isfinite(matrix).all() else None

    @cached_property
    def freedom(self) -> Floats | None:
        """(K,) degrees of freedom of the sandwich; None where the covariance is that of resamples."""
        policy, prior = self.options.policy, self.options.prior
        if policy.models_ties or (prior is not None and self.options.source is Intervals.BOOTSTRAP):
            return None
        if prior is None:
            return self.votes.freedom(self.theta, self.group, policy)
        return _spread_with_prior(self, prior)[1]

    @cached_property
    def possible(self) -> Floats:
        """(R, K) strengths that the votes leave possible: resamples, or draws from the sandwich."""
        if self.options.source is Intervals.BOOTSTRAP:
            return self.strengths.draws
        rng = np.random.default_rng(self.options.seed)
        return normal_draws(self.theta, self._sandwich(), self.freedom, _DRAWS, rng)

    @cached_property
    def anchor(self) -> tuple[int, float] | None:
        """Index and rating of the anchor.

        Raises:
            AnchorNotRanked: The anchor is not one of the ranked systems.
        """
        return None if self.options.anchor is None else anchor_index(self.options.anchor, self.systems)

    @cached_property
    def estimates(self) -> Estimates:
        """(K,) ratings on the Elo scale with intervals and ranks over all K systems."""
        if self.options.source is Intervals.SANDWICH:
            return normal_ratings(
                self.theta,
                self._sandwich(),
                level=self.options.level,
                anchor=self.anchor,
                freedom=self.freedom,
            )
        return summarise(self.strengths, level=self.options.level, anchor=self.anchor)

    @cached_property
    def differences(self) -> Differences:
        """(K, K) differences of every two ratings with intervals; they do not depend on the anchor."""
        if self.options.source is Intervals.SANDWICH:
            return normal_differences(self.theta, self._sandwich(), self.options.level, self.freedom)
        return differences(self.strengths, self.options.level)

    @property
    def nothing_resampled(self) -> bool:
        """Whether there were resamples and none could be ranked, so that no share of them means anything."""
        return bool(self.strengths.unranked) and not len(self.strengths.draws)

    def table(self) -> Table:
        """One row per system: its strength."""
        columns = (tables.text("system"), tables.number("strength", unit="logits"))
        rows = [(self.systems[index], float(self.theta[index])) for index in np.argsort(-self.theta)]
        notes = (
            "Strengths have mean zero; `estimates` has ratings with intervals, `differences` those of pairs.",
        )
        return Table("Fitted strengths", columns, tuple(rows), notes)

    def _sandwich(self) -> Floats:
        if self.covariance is None:
            raise Undetermined("these votes give no covariance of the strengths")
        return self.covariance


def fitted(votes: Votes, tally: Tally, group: Places, options: Options) -> Fit:
    """Fit a group of systems once.

    Args:
        votes: Votes of any kind.
        tally: Their weighted counts.
        group: (K,) indices of at least two systems that the votes can rank.
        options: How to rate.

    Raises:
        NotConverged: The model of ties has no finite solution, or the weights are too uneven to settle.
        Undetermined: Sandwich intervals of votes that form a single cluster.
    """
    if options.source is Intervals.SANDWICH:
        theta, tie = fit(pairs_among(tally, group, options.policy), options.policy, options.prior)
        return Fit(votes, tally, group, options, Strengths(theta, np.empty((0, len(group))), tie=tie))
    strengths = estimate(
        votes,
        group,
        np.random.default_rng(options.seed),
        policy=options.policy,
        bootstrap=options.drawing,
        resamples=options.draws,
        prior=options.prior,
    )
    return Fit(votes, tally, group, options, strengths)


def _spread_with_prior(fit: Fit, strength: float) -> tuple[Floats, Floats]:
    """Sandwich in which the pseudo-battles of the prior count as battles, and its degrees of freedom.

    Raises:
        InvalidOption: Votes of several sources.
    """
    policy = fit.options.policy
    counts = with_prior(pairs_among(fit.tally, fit.group, policy), strength)
    theta, size = fit_pairs(counts), len(fit.group)
    if isinstance(fit.votes, Counted):
        freedom = residual(float(counts.played.sum()), size + 1)[:-1]
        return covariance_without_phantom(covariance(theta, counts, given=size)), freedom
    ballots = getattr(fit.votes, "ballots", fit.votes)
    if not isinstance(ballots, Ballots):
        raise InvalidOption("prior", "goes with sandwich intervals only for a single source of votes")
    votes = ballots_with_prior(ballots.within(fit.group), strength)
    padded = linearised(theta, votes, policy, given=2 * size)
    return covariance_without_phantom(padded.covariance()), padded.freedom(size)[:-1]


def anchor_index(anchor: Anchor, systems: tuple[str, ...]) -> tuple[int, float]:
    """Index of the anchor among the ranked systems, and its rating.

    Raises:
        AnchorNotRanked: It is not one of them.
    """
    if anchor.system not in systems:
        shown = ", ".join(systems[:10]) + (", …" if len(systems) > 10 else "")
        raise AnchorNotRanked(f"{anchor.system!r} is not ranked; the ranked systems are {shown}")
    return systems.index(anchor.system), anchor.rating
