"""Style control: hidden truth found again, and what has no answer."""

import numpy as np
import pytest
from scipy.special import expit

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.fitting.bradley_terry import fit
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.style_control import StyleUndetermined, control, relative_difference
from nuggetstream.ratings.ties import TiePolicy

NAMES = ("one", "two", "three", "four")
BATTLES = [Ballot(*pair, vote) for pair in ("wx", "yz") for vote in (Vote.A, Vote.B)]
STYLE = np.array([[0.1], [0.4], [-0.2], [-0.3]])


def simulated(count: int, style: float, seed: int = 0) -> tuple[Ballots, np.ndarray]:
    """Votes of people who like length by `style` per standard deviation, among equally spaced systems."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, count)
    b = (a + rng.integers(1, 4, count)) % 4
    longer = rng.normal(size=count) + 0.5 * (a - b)  # the worse a system, the more it says
    longer /= np.sqrt((longer**2).mean())
    votes = rng.random(count) < expit(0.4 * (b - a) + style * longer)
    ballots = Ballots.of(
        Ballot(NAMES[i], NAMES[j], Vote.A if won else Vote.B) for i, j, won in zip(a, b, votes, strict=True)
    )
    return ballots, longer[:, None]


def test_swapping_the_answers_turns_the_sign() -> None:
    one, other = np.array([[5.0, 0, 2]]), np.array([[1.0, 0, 0]])
    assert relative_difference(one, other).tolist() == (-relative_difference(other, one)).tolist()


@pytest.mark.parametrize("amount", [-1.0, float("nan"), float("inf")])
def test_an_impossible_amount_is_refused(amount: float) -> None:
    for of_a, of_b in ((amount, 1.0), (1.0, amount)):
        with pytest.raises(ValueError, match="finite and not negative"):
            relative_difference(np.array([[of_a]]), np.array([[of_b]]))


def test_hidden_style_is_found_and_taken_off() -> None:
    ballots, longer = simulated(6000, style=0.8)
    result = control(ballots, longer, ["length"])
    (length,) = result.coefficients
    assert length.low < 0.8 < length.high
    assert length.error < 0.06
    strength = dict(zip(result.systems, result.theta, strict=True))
    assert strength["one"] - strength["four"] == pytest.approx(1.2, abs=0.2)
    plain = fit(ballots.tally.points(TiePolicy.HALF))
    raw = dict(zip(ballots.systems, plain, strict=True))
    assert raw["one"] - raw["four"] < 0.6  # without control the wordy look better than they are


def test_style_nobody_varies_has_no_coefficient_and_changes_nothing() -> None:
    ballots, longer = simulated(300, style=0.0)
    result = control(ballots, np.zeros_like(longer), ["length"])
    assert (result.coefficients[0].value, result.coefficients[0].deviation) == (None, 0)
    assert result.theta == pytest.approx(fit(ballots.tally.points(TiePolicy.HALF)), abs=1e-7)


def test_swapping_all_battles_changes_nothing() -> None:
    ballots, longer = simulated(300, style=0.5)
    swapped = Ballots.of(
        Ballot(ballots.systems[b], ballots.systems[a], 1 - s)
        for a, b, s in zip(ballots.a, ballots.b, ballots.score, strict=True)
    )
    one, other = control(ballots, longer, ["length"]), control(swapped, -longer, ["length"])
    assert one.theta == pytest.approx(other.theta)
    assert one.coefficients[0].value == pytest.approx(other.coefficients[0].value)


def test_two_names_for_one_feature_are_refused() -> None:
    ballots, longer = simulated(300, style=0.5)
    with pytest.raises(StyleUndetermined, match="collinear"):
        control(ballots, np.hstack([longer, 2 * longer]), ["length", "twice"])


def test_style_that_predicts_every_vote_has_no_coefficient() -> None:
    ballots, _ = simulated(300, style=0.0)
    with pytest.raises(NotConverged, match="style predicts"):
        control(ballots, (2 * ballots.score - 1)[:, None], ["verdict"])


def test_systems_without_a_rating_are_named() -> None:
    ballots = Ballots.of(
        [*(Ballot("x", "y", v) for v in (Vote.A, Vote.B, Vote.A, Vote.B)), Ballot("best", "x", Vote.A)]
    )
    result = control(ballots, np.array([[0.1], [0.3], [-0.2], [-0.4], [0.0]]), ["length"])
    assert result.systems == ("x", "y")
    assert result.unranked == ("best",)


def test_nothing_to_rank_is_refused() -> None:
    with pytest.raises(StyleUndetermined, match="no two systems"):
        control(Ballots.of([Ballot("x", "y", Vote.A)]), np.zeros((1, 1)), ["length"])


@pytest.mark.parametrize("difference", [np.zeros((2, 1)), np.full((3, 1), np.nan)])
def test_differences_that_do_not_fit_the_votes_are_refused(difference: np.ndarray) -> None:
    with pytest.raises(ValueError, match="finite differences"):
        control(Ballots.of([Ballot("x", "y", Vote.TIE)] * 3), difference, ["length"])


def test_a_vote_without_weight_is_no_vote_and_no_cluster() -> None:
    votes = [Ballot("x", "y", v) for v in (Vote.A, Vote.B, Vote.A, Vote.B)]
    longer = np.array([[0.1], [0.3], [-0.2], [-0.4]])
    plain = control(Ballots.of(votes), longer, ["length"])
    more = control(Ballots.of([*votes, Ballot("x", "y", Vote.A, 0.0)]), np.vstack([longer, 0.9]), ["length"])
    assert more.coefficients == plain.coefficients
    assert more.covariance.tolist() == plain.covariance.tolist()


def test_strengths_at_equal_style_sum_to_zero_and_so_do_their_errors() -> None:
    ballots, longer = simulated(300, style=0.5)
    result = control(ballots, longer, ["length"])
    assert result.theta.sum() == pytest.approx(0, abs=1e-9)
    assert result.covariance.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)


def test_two_clusters_are_enough_for_an_error_of_style() -> None:
    votes = [Ballot("x", "y", v, cluster=q) for q in "pq" for v in (Vote.A, Vote.B, Vote.A)]
    longer = np.array([[0.3], [0.1], [-0.2], [0.2], [-0.4], [0.5]])
    assert control(Ballots.of(votes), longer, ["length"]).coefficients[0].error > 0


def test_style_control_of_nothing_of_one_query_or_of_a_model_of_ties_is_refused() -> None:
    with pytest.raises(StyleUndetermined, match="no two systems"):
        control(Ballots.of([]), np.zeros((0, 1)), ["length"])
    same = Ballots.of(Ballot("w", "x", b.outcome, cluster="q") for b in BATTLES)
    with pytest.raises(StyleUndetermined, match="one cluster"):
        control(same, STYLE, ["length"])
    with pytest.raises(ValueError, match="half a win"):
        control(same, STYLE, ["length"], policy=TiePolicy.DAVIDSON)
