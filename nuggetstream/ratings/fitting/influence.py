"""How much one vote moves the gap between two systems, to first order.

At the maximum of the log-likelihood, without one vote the strengths move by

    -H⁻¹ g,   H the information of all votes, g the score of the vote: its derivative at the fit

so the gap θi - θj falls by (e_i - e_j)ᵀ H⁻¹ g. Votes of one kind, the same two systems and the same outcome,
have one influence, so the cost depends on the pairs that met and not on the number of votes.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nuggetstream.ratings.fitting.newton import Bend
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.sandwich import laplacian
from nuggetstream.ratings.fitting.tie_models import Davidson, RaoKupper
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Influence:
    """Scores of all kinds of votes at a fit, and the inverse of its information.

    Attributes:
        pairs: (E,) counts that were fitted.
        score: (3, E) derivative of the log-likelihood of one vote won, lost or drawn, by the gap of its pair.
        tie_score: (3, E) derivative by the tie parameter; None for fits without one.
        inverse: (K, K) inverse information with the first system held fixed; (K + 1, K + 1) with a tie
            parameter.
    """

    pairs: Pairs
    score: Floats
    tie_score: Floats | None
    inverse: Floats

    @classmethod
    def of(cls, theta: Floats, pairs: Pairs, policy: TiePolicy, tie: float | None = None) -> Self:
        """Linearise a fit.

        Args:
            theta: (K,) maximum-likelihood strengths.
            pairs: (E,) counts they were fitted to, under the policy; systems linked.
            policy: What a tie says.
            tie: ν of Davidson or κ of Rao and Kupper; None for other policies.

        Raises:
            numpy.linalg.LinAlgError: The systems are not linked, so that the information has no inverse.

        Source: Cook and Weisberg, "Residuals and Influence in Regression", 1982.
        """
        gap = theta[pairs.first] - theta[pairs.second]
        if tie is None or not pairs.drawn.any():  # without a tie, models of ties are Bradley-Terry
            chance = expit(gap)
            score = np.stack([1 - chance, -chance, 0.5 - chance])
            curve = pairs.played * chance * (1 - chance)
            return cls(pairs, score, None, _inverse(laplacian(pairs, curve)))
        log_tie = np.log(tie)
        batch, rows = pairs.counted(pairs.cells[None]), np.array([0])
        model = (Davidson if policy is TiePolicy.DAVIDSON else RaoKupper)(
            pairs.size, pairs.first, pairs.second, batch
        )
        bend = model.bend(rows, gap[None], np.array([log_tie]))
        scores = _davidson if policy is TiePolicy.DAVIDSON else _rao_kupper
        return cls(pairs, *scores(gap, log_tie), _inverse(_bordered(pairs, bend)))

    def on_gap(self, i: int, j: int) -> Floats:
        """By how much θi - θj falls when one vote is dropped.

        Args:
            i: Index of one system.
            j: Index of the other.

        Returns:
            (3, E) logits, for a vote that the first of a pair won, lost, or that is a tie; negative where the
            gap grows.
        """
        toward = self.inverse[i] - self.inverse[j]
        fall = self.score * (toward[self.pairs.first] - toward[self.pairs.second])
        if self.tie_score is not None:
            fall += self.tie_score * toward[-1]
        return np.asarray(fall)


def _davidson(gap: Floats, log_tie: float) -> tuple[Floats, Floats]:
    """Scores of log P with P(win) : P(loss) : P(tie) = e^(d/2) : e^(-d/2) : ν, by d and log ν."""
    weights = np.stack([gap / 2, -gap / 2, np.full_like(gap, log_tie)])
    weights = np.exp(weights - weights.max(axis=0))
    win, loss, draw = weights / weights.sum(axis=0)
    margin = (win - loss) / 2
    return np.stack([0.5 - margin, -0.5 - margin, -margin]), np.stack([-draw, -draw, 1 - draw])


def _rao_kupper(gap: Floats, log_tie: float) -> tuple[Floats, Floats]:
    """Scores of log σ(d - η), log σ(-d - η), and for a tie the sum of both and log(e^2η - 1), by d and η."""
    won, lost = expit(log_tie - gap), expit(log_tie + gap)
    drawn = -2 / np.expm1(-2 * log_tie) - won - lost
    return np.stack([won, -lost, won - lost]), np.stack([-won, -lost, drawn])


def _bordered(pairs: Pairs, bend: Bend) -> Floats:
    """(K + 1, K + 1) information of the strengths and the tie parameter."""
    size = pairs.size
    matrix = np.zeros((size + 1, size + 1))
    matrix[:size, :size] = laplacian(pairs, bend.curve[0])
    if bend.cross is not None and bend.tie_curve is not None:
        border = np.bincount(pairs.first, bend.cross[0], size) - np.bincount(
            pairs.second, bend.cross[0], size
        )
        matrix[:size, size] = matrix[size, :size] = border
        matrix[size, size] = bend.tie_curve[0]
    return matrix


def _inverse(information: Floats) -> Floats:
    """Inverse with the first strength held fixed: gaps do not depend on which one is."""
    inverse = np.zeros_like(information)
    inverse[1:, 1:] = np.linalg.inv(information[1:, 1:])
    return inverse
