"""Ratings of data that have no answer: a named error or a named state, never a number that looks like one."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binomtest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.ballots import Ballot, Ballots
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.bradley_terry import NotConverged, fit, fit_pairs
from nuggetstream.ratings.elo import Games, from_percentages, tournaments
from nuggetstream.ratings.estimate import estimate
from nuggetstream.ratings.intervals import (
    Strengths,
    differences,
    percentile_interval,
    ranks_by_overlap,
    summarise,
)
from nuggetstream.ratings.leaderboard import Anchor, AnchorNotRanked, leaderboard
from nuggetstream.ratings.pairs import Pairs
from nuggetstream.ratings.prediction_powered import Judged, TooFewVotes, ratings, win_rate
from nuggetstream.ratings.sampling import battles_needed, most_informative
from nuggetstream.ratings.sandwich import (
    Undetermined,
    clustered_covariance,
    covariance,
    normal_differences,
    normal_ratings,
)
from nuggetstream.ratings.style_control import StyleUndetermined, control
from nuggetstream.ratings.tally import Tally, TiePolicy, Unrankable, connectivity, rankable
from nuggetstream.ratings.tie_models import fit_davidson, fit_rao_kupper
from nuggetstream.ratings.votes import mixed
from nuggetstream.statistics.proportion import two_sided_z, wilson
from tests.nuggetstream.ratings.rated import rate

NAN, INF = float("nan"), float("inf")
NONE = np.zeros((0, 0))
ISLANDS = np.kron(np.eye(2), np.array([[0.0, 2.0], [1.0, 0.0]]))  # w-x and y-z never met
UNDEFEATED = np.array([[0.0, 3.0], [0.0, 0.0]])
EVEN = np.array([[0.0, 4.0], [4.0, 0.0]])
MISSING = np.array([[0.0, NAN], [1.0, 0.0]])
ENDLESS = np.array([[0.0, INF], [INF, 0.0]])
NEGATIVE = np.array([[0.0, -1.0], [3.0, 0.0]])
TWO = np.eye(2)
BATTLES = [Ballot(*pair, vote) for pair in ("wx", "yz") for vote in (Vote.A, Vote.B)]
STYLE = np.array([[0.1], [0.4], [-0.2], [-0.3]])


def seeded() -> np.random.Generator:
    return np.random.default_rng(0)


def batch(wins: np.ndarray, drawn: np.ndarray | None = None) -> Pairs:
    pairs = Pairs.of(wins, np.zeros_like(wins) if drawn is None else drawn)
    return pairs.counted(pairs.cells[None])


def judged(*scores: float) -> Judged:
    return Judged(np.zeros(len(scores), int), np.ones(len(scores), int), np.array(scores))


@pytest.mark.parametrize("points", [NONE, np.zeros((1, 1)), ISLANDS, UNDEFEATED, MISSING, NEGATIVE, ENDLESS])
def test_no_model_has_strengths_for_these(points: np.ndarray) -> None:
    nothing, one_tie = np.zeros_like(points), np.zeros_like(points)
    one_tie[:1, 1:2] = one_tie[1:2, :1] = 1.0 if points is not UNDEFEATED else 0.0
    with pytest.raises(NotConverged):
        fit(points)
    with pytest.raises(NotConverged):
        rate(points, nothing, seeded())
    for model in (fit_davidson, fit_rao_kupper):
        for drawn in (nothing, one_tie):
            with pytest.raises(NotConverged):
                model(batch(points, drawn))


@pytest.mark.parametrize("model", [fit_davidson, fit_rao_kupper])
@pytest.mark.parametrize("drawn", [EVEN, EVEN * NAN, -EVEN])
def test_ties_alone_missing_or_below_zero_have_no_tie_parameter(model: Callable, drawn: np.ndarray) -> None:
    with pytest.raises(NotConverged):
        model(batch(np.zeros((2, 2)), drawn))


def test_fewer_than_two_systems_are_no_group_to_estimate() -> None:
    votes = mixed([("people", Tally.count([("w", "x", Vote.TIE, 1)]), 1.0)])
    for group in ([], [0]):
        with pytest.raises(NotConverged, match="at least two"):
            estimate(votes, np.array(group, dtype=np.intp), seeded())


@pytest.mark.parametrize("policy", TiePolicy)
def test_a_board_gives_a_reason_instead_of_a_number(policy: TiePolicy) -> None:
    def reasons(*votes: Ballot, systems: str = "") -> list[Unrankable | None]:
        board = leaderboard(Ballots.of(votes, systems or None), seeded(), policy=policy, resamples=20)
        assert all((s.rating is None) == (s.unrankable is not None) for s in board.standings)
        return [s.unrankable for s in board.standings]

    assert reasons() == []
    assert reasons(systems="w") == [Unrankable.NO_BATTLES]
    assert reasons(Ballot("w", "x", Vote.A)) == [Unrankable.UNDEFEATED, Unrankable.WINLESS]
    assert reasons(*BATTLES) == [None, None, Unrankable.DISCONNECTED, Unrankable.DISCONNECTED]
    ties = reasons(Ballot("w", "x", Vote.TIE), Ballot("w", "x", Vote.TIE))
    expected = {TiePolicy.HALF: None, TiePolicy.DROP_BOTH_BAD: None, TiePolicy.DROP: Unrankable.NO_BATTLES}
    assert ties == [expected.get(policy, Unrankable.UNDETERMINED)] * 2


def test_who_can_be_ranked_is_not_guessed_from_missing_points() -> None:
    assert rankable(NONE)[0].tolist() == []
    assert rankable(np.zeros((1, 1)))[1] == {0: Unrankable.NO_BATTLES}
    assert connectivity(Tally.count([])).groups == ()
    for points in (MISSING, NEGATIVE, ENDLESS):
        with pytest.raises(ValueError, match="finite and not negative"):
            rankable(points)
    assert np.isnan(
        Tally(("w", "x"), np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2))).win_matrix()
    ).all()


@pytest.mark.parametrize("bootstrap", Bootstrap)
def test_what_cannot_be_resampled_is_refused(bootstrap: Bootstrap) -> None:
    for wins, resamples in ((MISSING, 5), (NEGATIVE, 5), (ENDLESS, 5), (EVEN, 0)):
        with pytest.raises(ValueError, match="resample needs"):
            bootstrap.draw(Pairs.of(wins, np.zeros((2, 2))), resamples, seeded())
    for clusters, resamples in ((0, 5), (3, 0)):
        with pytest.raises(ValueError, match="resamples of"):
            bootstrap.weights(clusters, resamples, seeded())


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -0.5, NAN])
def test_a_level_outside_its_range_is_refused_everywhere(level: float) -> None:
    theta, draws = np.zeros(2), seeded().normal(size=(9, 2))
    votes, pair = Ballots.of(BATTLES), Ballots.of(Ballot("w", "x", b.outcome) for b in BATTLES)
    calls: list[Callable[[], object]] = [
        lambda: two_sided_z(level),
        lambda: wilson(1, 2, level),
        lambda: percentile_interval(draws, 0, level),
        lambda: summarise(Strengths(theta, draws), level=level),
        lambda: differences(Strengths(theta, draws), level),
        lambda: rate(EVEN, np.zeros((2, 2)), seeded(), level=level),
        lambda: leaderboard(votes, seeded(), level=level),
        lambda: normal_ratings(theta, TWO, level=level),
        lambda: normal_differences(theta, TWO, level),
        lambda: battles_needed(np.arange(2.0), TWO, 0, 1, level=level),
        lambda: win_rate(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.ones(3), level),
        lambda: control(pair, STYLE, ["length"], level=level),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"lies in \(0, 1\)"):
            call()


def test_without_resamples_or_with_missing_ones_there_is_no_interval() -> None:
    nothing = Strengths(np.zeros(2), np.empty((0, 2)))
    for call in (summarise, differences):
        with pytest.raises(ValueError, match="at least one resample"):
            call(nothing)
        with pytest.raises(ValueError, match="not a number"):
            call(Strengths(np.zeros(2), np.full((3, 2), NAN)))
    with pytest.raises(ValueError, match="at least one resample"):
        rate(EVEN, np.zeros((2, 2)), seeded(), resamples=0)
    with pytest.raises(ValueError, match="no rank"):
        ranks_by_overlap(np.array([NAN, 1.0]), np.array([2.0, 3.0]))
    with pytest.raises(ValueError, match="no rank"):
        ranks_by_overlap(np.array([1.0, 1.0]), np.array([2.0, NAN]))
    only_unranked = summarise(Strengths(np.zeros(2), np.empty((0, 2)), unranked=4))
    assert np.isinf(only_unranked.low).all()
    assert only_unranked.probability_first.tolist() == [0, 0]


def test_islands_have_no_standard_error() -> None:
    pairs, votes = Pairs.of(ISLANDS, np.zeros((4, 4))), Ballots.of(BATTLES)
    with pytest.raises(Undetermined, match="islands"):
        covariance(np.zeros(4), pairs)
    with pytest.raises(Undetermined, match="islands"):
        clustered_covariance(np.zeros(4), votes)
    for nothing in (Ballots.of([]), Ballots.of(BATTLES[:1])):
        with pytest.raises(Undetermined, match="one cluster"):
            clustered_covariance(np.zeros(len(nothing.systems)), nothing)
    with pytest.raises(ValueError, match="no rank"):
        normal_ratings(np.zeros(2), TWO * NAN)
    assert normal_ratings(np.zeros(0), NONE).rating.tolist() == []


def test_equal_strengths_without_error_are_not_above_each_other() -> None:
    between = normal_differences(np.zeros(2), np.zeros((2, 2)))
    assert between.above.tolist() == [[0, 0], [0, 0]]


def test_advice_for_what_no_number_of_battles_settles() -> None:
    assert battles_needed(np.zeros(2), TWO, 0, 1) is None
    assert battles_needed(np.array([1e-200, 0.0]), TWO, 0, 1) is None
    assert battles_needed(np.array([1.0, 0.0]), np.zeros((2, 2)), 0, 1) == 0
    assert battles_needed(np.zeros(2), np.zeros((2, 2)), 0, 1) is None
    assert battles_needed(np.array([800.0, 0.0]), TWO * 1e9, 0, 1) is None
    assert most_informative(np.zeros(1), np.zeros((1, 1))) == []
    assert most_informative(np.array([800.0, 0.0]), TWO)[0].shrinkage == pytest.approx(0)
    with pytest.raises(ValueError, match="does not differ from itself"):
        battles_needed(np.zeros(2), TWO, 1, 1)
    for theta, known in ((np.array([NAN, 0.0]), TWO), (np.zeros(2), TWO * NAN)):
        with pytest.raises(ValueError, match="not finite"):
            battles_needed(theta, known, 0, 1)
        with pytest.raises(ValueError, match="not finite"):
            most_informative(theta, known)
    with pytest.raises(ValueError, match="power"):
        battles_needed(np.arange(2.0), TWO, 0, 1, power=1.0)


def test_a_tournament_of_nothing_or_of_lists_that_do_not_match_is_refused() -> None:
    one = np.array([0])
    with pytest.raises(ValueError, match="for 2 scores"):
        Games(("w", "x"), one, one + 1, np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="needs games"):
        Games((), np.array([], int), np.array([], int), np.array([]))
    with pytest.raises(ValueError, match="at least one tournament"):
        tournaments(Games(("w", "x"), one, one + 1, np.array([1.0])), seeded(), rounds=0)
    with pytest.raises(ValueError, match="not of 10 games"):
        from_percentages("wx", np.full((2, 2), NAN), 10)


def test_unanimous_votes_are_no_certainty_in_a_win_rate() -> None:
    found = win_rate(np.ones(2), np.ones(2), np.ones(8))
    assert (found.human.value, found.human.error, found.trust) == (1, 0, 0)
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


def test_style_control_of_nothing_of_one_query_or_of_a_model_of_ties_is_refused() -> None:
    with pytest.raises(StyleUndetermined, match="no two systems"):
        control(Ballots.of([]), np.zeros((0, 1)), ["length"])
    same = Ballots.of(Ballot("w", "x", b.outcome, cluster="q") for b in BATTLES)
    with pytest.raises(StyleUndetermined, match="one cluster"):
        control(same, STYLE, ["length"])
    with pytest.raises(ValueError, match="half a win"):
        control(same, STYLE, ["length"], policy=TiePolicy.DAVIDSON)


@pytest.mark.parametrize("model", [fit_davidson, fit_rao_kupper])
def test_ties_that_could_be_any_number_are_not_fitted_where_newton_happens_to_stop(model: Callable) -> None:
    """No loss, and no more wins than ties: the more common ties are, the better they fit."""
    four = np.array([[0.0, 4.0], [4.0, 0.0]])
    pairs, even = batch(np.array([[0.0, 2.0], [0.0, 0.0]]), four), batch(EVEN, four)
    for unclear in (pairs, pairs.counted(np.concatenate([even.cells, pairs.cells]))):
        with pytest.raises(NotConverged, match="how common ties are"):
            model(unclear)


def test_an_undefeated_system_has_no_strength_where_newton_happens_to_stop() -> None:
    """Far out, where its chance is 1 but for rounding, no step is left to take."""
    wins = np.array([[0, 17.0, 33, 0], [0, 0, 20, 21], [0, 8, 0, 41], [0, 3, 8, 0]])
    points = np.array([[0, 0, 100.0], [0, 0, 1], [0, 1e5, 0]])
    for counts in (wins, points, np.stack([points, points + points.T])):
        with pytest.raises(NotConverged, match="not strongly connected"):
            fit(counts)
    drawn = np.zeros((4, 4))
    drawn[1, 2] = drawn[2, 1] = 8
    for model in (fit_davidson, fit_rao_kupper):
        with pytest.raises(NotConverged, match="not strongly connected"):
            model(batch(wins, drawn))


@pytest.mark.parametrize("cell", range(3))
@pytest.mark.parametrize("count", [-0.5, NAN, INF])
def test_one_impossible_count_among_many_battles_is_found(cell: int, count: float) -> None:
    pairs = batch(np.array([[0, 9.0, 8], [7, 0, 6], [5, 4, 0]]), np.ones((3, 3)) - np.eye(3))
    bad = pairs.cells.copy()
    bad[0, cell, 1] = count
    for model in (fit_pairs, fit_davidson, fit_rao_kupper):
        with pytest.raises(NotConverged, match="finite and not negative"):
            model(pairs.counted(bad))


def test_an_anchor_is_missed_also_where_nobody_is_ranked() -> None:
    for policy, vote in ((TiePolicy.HALF, Vote.A), (TiePolicy.DAVIDSON, Vote.TIE)):
        with pytest.raises(AnchorNotRanked, match="'w' is not among"):
            leaderboard(Tally.count([("w", "x", vote, 2)]), seeded(), policy=policy, anchor=Anchor("w", 1000))
