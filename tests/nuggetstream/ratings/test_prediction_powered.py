"""Few human votes and many automatic ones: right however biased the judge, narrower where it is good."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest

from nuggetstream.ratings.fitting.prediction_powered import Judged, TooFewVotes, ratings
from nuggetstream.ratings.fitting.sandwich import (
    gap_variance,
)
from nuggetstream.ratings.win_rates import win_rate
from nuggetstream.statistics.proportion import wilson

TRUTH = np.array([0.6, 0.1, -0.7])
NAN, INF = float("nan"), float("inf")


def votes(rng: np.random.Generator, count: int, noise: float) -> tuple[Judged, np.ndarray]:
    """Human votes, and those of a judge who agrees with them except for noise, and adores system 2."""
    a = rng.integers(0, 3, count)
    b = (a + rng.integers(1, 3, count)) % 3
    human = (rng.random(count) < expit(TRUTH[a] - TRUTH[b])).astype(float)
    judge = np.where(rng.random(count) < noise, rng.integers(0, 2, count), human)
    judge = np.where((a == 2) & (rng.random(count) < 0.3), 1.0, judge)
    judge = np.where((b == 2) & (rng.random(count) < 0.3), 0.0, judge)
    return Judged(a, b, human), judge


def judged(*scores: float) -> Judged:
    return Judged(np.zeros(len(scores), int), np.ones(len(scores), int), np.array(scores))


def test_the_combined_win_rate_covers_the_truth_and_the_automatic_one_does_not() -> None:
    rng, runs, hits = np.random.default_rng(0), 400, np.zeros(3)
    widths = np.zeros(3)
    for _ in range(runs):
        truth = (rng.random(3200) < 0.4).astype(float)
        judge = np.where(rng.random(3200) < 0.15, 1.0, truth)  # sometimes in favour, never against
        result = win_rate(truth[:200], judge[:200], judge[200:])
        for k, estimate in enumerate((result.human, result.automatic, result.combined)):
            hits[k] += estimate.low <= 0.4 <= estimate.high
            widths[k] += estimate.high - estimate.low
    human, automatic, combined = hits / runs
    assert 0.92 <= human <= 0.98
    assert 0.92 <= combined <= 0.98
    assert automatic < 0.05
    assert widths[2] < 0.65 * widths[0]


def test_a_judge_who_guesses_is_not_trusted() -> None:
    rng = np.random.default_rng(1)
    human, judge, further = rng.integers(0, 2, 500), rng.integers(0, 2, 500), rng.integers(0, 2, 5000)
    result = win_rate(human.astype(float), judge.astype(float), further.astype(float))
    assert result.tuning < 0.1
    assert result.combined.value == pytest.approx(result.human.value, abs=0.01)


def test_without_further_battles_only_people_count() -> None:
    result = win_rate(np.array([1.0, 0, 1]), np.array([1.0, 0, 0]), np.array([]))
    assert result.tuning == 0
    assert result.combined == result.human


def test_one_human_vote_is_too_few() -> None:
    with pytest.raises(TooFewVotes, match="1 human"):
        win_rate(np.array([1.0]), np.array([1.0]), np.ones(9))
    one = Judged(np.array([0]), np.array([1]), np.array([1.0]))
    with pytest.raises(TooFewVotes, match="1 human"):
        ratings(2, one, np.array([1.0]), one)


@pytest.mark.parametrize("point", [float("nan"), 1.1, -0.1])
def test_points_outside_the_range_are_refused(point: float) -> None:
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        win_rate(np.array([point, 1.0]), np.ones(2), np.ones(3))


def test_votes_that_do_not_pair_up_are_refused() -> None:
    with pytest.raises(ValueError, match="2 human votes beside 3"):
        win_rate(np.ones(2), np.ones(3), np.ones(3))


@pytest.mark.slow
def test_combined_ratings_cover_the_truth_and_are_narrower() -> None:
    rng, runs = np.random.default_rng(4), 150
    hits, widths = np.zeros(3), np.zeros(3)
    for _ in range(runs):
        human, judge = votes(rng, 300, noise=0.1)
        more, beyond = votes(rng, 5000, noise=0.1)
        result = ratings(3, human, judge, Judged(more.a, more.b, beyond))
        for k, fitted in enumerate((result.human, result.automatic, result.combined)):
            assert fitted is not None
            gap, error = fitted.theta[0] - fitted.theta[2], np.sqrt(gap_variance(fitted.covariance)[0, 2])
            hits[k] += abs(gap - 1.3) < 1.96 * error
            widths[k] += error
    human_share, automatic, combined = hits / runs
    assert human_share > 0.9
    assert 0.9 <= combined <= 0.99
    assert automatic < 0.1
    assert widths[2] < 0.85 * widths[0]


def test_people_who_cannot_rank_everybody_leave_that_column_empty() -> None:
    human = Judged(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([1.0, 1.0, 1.0]))
    a, b = np.array([0, 1, 2] * 20), np.array([1, 2, 0] * 20)
    result = ratings(3, human, np.array([1.0, 0.0, 1.0]), Judged(a, b, np.tile([1.0, 0.0], 30)))
    assert result.human is None
    assert result.automatic is not None


def test_a_good_judge_is_trusted_more_than_a_bad_one() -> None:
    trust = []
    for noise in (0.05, 0.9):
        rng = np.random.default_rng(5)
        human, judge = votes(rng, 400, noise)
        more, beyond = votes(rng, 4000, noise)
        trust.append(ratings(3, human, judge, Judged(more.a, more.b, beyond)).tuning)
    assert trust[0] > 0.4
    assert trust[1] < trust[0] / 3


def test_the_trust_of_a_win_rate_by_hand() -> None:
    people, judge = np.array([1.0, 0, 1, 0]), np.array([1.0, 0, 1, 1])
    found = win_rate(people, judge, np.array([1.0, 0.0]))
    # covariance 1/6, variance of all six judged 4/15, n / N = 2
    assert found.tuning == pytest.approx((1 / 6) / (3 * 4 / 15))
    assert found.combined.value == pytest.approx(0.5 - 0.25 * found.tuning)
    assert win_rate(people, judge, np.array([1.0])).tuning == 0  # one vote says nothing about its spread


@pytest.mark.parametrize("everybody", [True, False])
def test_no_other_trust_gives_strengths_a_smaller_variance(everybody: bool) -> None:
    rng = np.random.default_rng(8)
    human, judge = votes(rng, 90, noise=0.3)
    more, beyond = votes(rng, 400, noise=0.3)
    if not everybody:  # people never let system 2 lose: it has no rating by people alone
        human = human._replace(score=np.where(human.a == 2, 1.0, np.where(human.b == 2, 0.0, human.score)))
    found = ratings(3, human, judge, Judged(more.a, more.b, beyond))
    start = found.human if everybody else found.automatic
    assert start is not None
    assert (found.human is not None) == everybody

    def pushes(a: np.ndarray, b: np.ndarray, score: np.ndarray) -> np.ndarray:
        ends = np.eye(3)[a] - np.eye(3)[b]
        return (score - expit(ends @ start.theta))[:, None] * ends

    ends = np.eye(3)[human.a] - np.eye(3)[human.b]
    chance = expit(ends @ start.theta)
    bread = np.linalg.pinv((ends * (chance * (1 - chance))[:, None]).T @ ends / 90)
    people, judged = pushes(*human), pushes(human.a, human.b, judge)
    together = np.cov(np.hstack([people, judged]).T)
    own = np.cov(np.vstack([judged, pushes(more.a, more.b, beyond)]).T)

    def variance(trust: float) -> float:
        rest = together[:3, :3] - trust * (together[:3, 3:] + together[3:, :3]) + trust**2 * own
        return float(np.trace(bread @ (rest / 90 + trust**2 * own / 400) @ bread))

    assert 0.1 < found.tuning < 0.9
    assert variance(found.tuning + 0.01) == pytest.approx(variance(found.tuning - 0.01))
    assert variance(found.tuning) < variance(found.tuning + 0.01)


def test_people_who_always_call_a_tie_leave_as_much_open_as_votes_half_won() -> None:
    found = win_rate(np.full(4, 0.5), np.full(4, 0.5), np.full(6, 0.5))
    assert (found.human.value, found.human.error) == (0.5, 0)
    assert (found.human.low, found.human.high) == pytest.approx(wilson(2, 4))
    assert (found.automatic.low, found.automatic.high) == pytest.approx(wilson(5, 10))


def test_the_errors_of_combined_strengths_are_the_sandwich_written_out() -> None:
    rng = np.random.default_rng(8)
    human, judge = votes(rng, 90, noise=0.3)
    more, beyond = votes(rng, 400, noise=0.3)
    found = ratings(3, human, judge, Judged(more.a, more.b, beyond))
    assert found.combined is not None

    def of(a: np.ndarray, b: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pushes (M, 3) and mean curvature (3, 3) at the combined strengths."""
        ends = np.eye(3)[a] - np.eye(3)[b]
        chance = expit(ends @ found.combined.theta)
        curvature = sum(p * (1 - p) * np.outer(x, x) for p, x in zip(chance, ends, strict=True)) / len(a)
        return (score - chance)[:, None] * ends, curvature

    (people, met), (judged, _), (rest, elsewhere) = (
        of(*human),
        of(human.a, human.b, judge),
        of(*more[:2], beyond),
    )
    bread = np.linalg.pinv((1 - found.tuning) * met + found.tuning * elsewhere)
    spread = np.cov((people - found.tuning * judged).T) / 90 + found.tuning**2 * np.cov(rest.T) / 400
    assert found.combined.covariance == pytest.approx(bread @ spread @ bread)


def test_trust_is_never_above_one_and_without_trust_the_people_stand_alone() -> None:
    people, hints = np.tile([1.0, 0.0], 20), np.tile([0.6, 0.4], 20)  # a judge of little contrast
    assert win_rate(people, hints, np.tile([0.6, 0.4], 400)).tuning == 1
    a, b = np.tile([0, 0, 1, 1], 10), np.tile([1, 1, 0, 0], 10)
    shown = Judged(np.tile(a, 20), np.tile(b, 20), np.tile(hints, 20))
    assert ratings(2, Judged(a, b, people), hints, shown).tuning == 1
    alone = ratings(2, Judged(a, b, people), hints, Judged(a[:1], b[:1], hints[:1]))
    assert alone.tuning == 0
    assert alone.combined is alone.human


def test_unanimous_votes_are_no_certainty_in_a_win_rate() -> None:
    found = win_rate(np.ones(2), np.ones(2), np.ones(8))
    assert (found.human.value, found.human.error, found.tuning) == (1, 0, 0)
    for estimate_, votes in ((found.human, 2), (found.combined, 2), (found.automatic, 10)):
        theirs = binomtest(votes, votes).proportion_ci(0.95, "wilson")
        assert (estimate_.low, estimate_.high) == pytest.approx((theirs.low, 1.0))


def test_people_and_judge_who_cannot_rank_everybody_give_none_and_not_a_number() -> None:
    found = ratings(3, judged(1, 0, 1), np.array([1.0, 0, 1]), judged(1, 0, 0))
    assert (found.human, found.automatic, found.combined) == (None, None, None)
    with pytest.raises(ValueError, match="2 human votes beside 3"):
        ratings(2, judged(1, 0), np.ones(3), judged(1))
    for bad in (judged(NAN, 1), judged(2, 1)):
        with pytest.raises(ValueError, match=r"in \[0, 1\]"):
            ratings(2, bad, np.ones(2), judged(1))
    with pytest.raises(TooFewVotes):
        ratings(2, judged(), np.array([]), judged(1))
    itself = Judged(np.array([0, 0]), np.array([0, 1]), np.ones(2))
    for people, more in ((itself, judged(1)), (judged(1, 0), itself)):
        with pytest.raises(ValueError, match="battles itself"):
            ratings(2, people, np.ones(2), more)
