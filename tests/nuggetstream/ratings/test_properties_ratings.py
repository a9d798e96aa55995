"""What must hold for ratings of any battles: names, order, sides and copies change only what they name."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.ballots import Ballot, Ballots
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.bradley_terry import fit, fit_pairs
from nuggetstream.ratings.elo import Arithmetic, Games, tournaments
from nuggetstream.ratings.intervals import Strengths, differences, summarise
from nuggetstream.ratings.leaderboard import Board, leaderboard
from nuggetstream.ratings.pairs import Pairs
from nuggetstream.ratings.prediction_powered import Judged, ratings, win_rate
from nuggetstream.ratings.sampling import battles_needed, most_informative
from nuggetstream.ratings.sandwich import clustered_covariance, covariance, normal_differences, normal_ratings
from nuggetstream.ratings.style_control import control
from nuggetstream.ratings.tally import Tally, TiePolicy, connectivity
from nuggetstream.ratings.votes import mixed
from nuggetstream.statistics.order_effects import swapped
from tests.nuggetstream.ratings.rated import rate

NAMES = "wxyz"
Battle = tuple[str, str, Vote]
MIRROR = str.maketrans("wxyz", "zyxw")  # renames and turns the alphabet round
# A circle of wins with a tie across it has a rating under every policy.
CIRCLE: list[Battle] = [
    *(("w", "x", Vote.A), ("x", "y", Vote.A), ("y", "z", Vote.A), ("w", "z", Vote.B)),
    *(("w", "y", Vote.TIE), ("x", "z", Vote.BOTH_BAD)),
]
BATTLES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(Vote)).filter(
        lambda battle: battle[0] != battle[1]
    ),
    max_size=30,
).map(lambda drawn: CIRCLE + drawn)

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=15, deadline=None)


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def tally_of(battles: list[Battle], times: float = 1) -> Tally:
    return Tally.count((*battle, times) for battle in battles)


def ballots_of(battles: list[Battle], weight: float = 1.0, queries: int = 5) -> Ballots:
    return Ballots.of(Ballot(*b, weight, f"query {n % queries}") for n, b in enumerate(battles))


def board_of(battles: list[Battle], policy: TiePolicy, resamples: int = 20) -> Board:
    return leaderboard(tally_of(battles), seeded(), policy=policy, resamples=resamples)


def rating_of(board: Board) -> dict[str, float | None]:
    return {standing.system: standing.rating for standing in board.standings}


def mirrored(battles: list[Battle]) -> list[Battle]:
    return [(b, a, swapped(vote)) for a, b, vote in battles]


@pytest.mark.parametrize("policy", TiePolicy)
@given(BATTLES)
@few
def test_renaming_systems_renames_their_ratings(policy: TiePolicy, battles: list[Battle]) -> None:
    renamed = [(a.translate(MIRROR), b.translate(MIRROR), vote) for a, b, vote in battles]
    ours, theirs = (rating_of(board_of(votes, policy)) for votes in (battles, renamed))
    assert theirs == pytest.approx({name.translate(MIRROR): value for name, value in ours.items()}, abs=1e-4)


@pytest.mark.parametrize("policy", TiePolicy)
@given(BATTLES, st.randoms())
@few
def test_neither_the_order_of_battles_nor_the_sides_they_are_shown_on_matter(
    policy: TiePolicy, battles: list[Battle], chance: object
) -> None:
    shuffled = chance.sample(battles, len(battles))
    assert board_of(shuffled, policy) == board_of(battles, policy) == board_of(mirrored(battles), policy)


@pytest.mark.parametrize("policy", TiePolicy)
@given(BATTLES)
@few
def test_a_battle_of_weight_two_is_two_battles(policy: TiePolicy, battles: list[Battle]) -> None:
    twice, weighted = tally_of(battles + battles), ballots_of(battles, weight=2.0).tally
    for other in (tally_of(battles, 2), weighted, mixed([("people", tally_of(battles), 2.0)]).tally):
        assert (other.points(policy) == twice.points(policy)).all()
    board = leaderboard(weighted, seeded(), policy=policy, resamples=20)
    assert rating_of(board) == pytest.approx(rating_of(board_of(battles, policy)), abs=1e-4)


@pytest.mark.parametrize("policy", TiePolicy)
@pytest.mark.parametrize("bootstrap", Bootstrap)
def test_the_same_seed_draws_the_same_board(policy: TiePolicy, bootstrap: Bootstrap) -> None:
    for votes in (tally_of(CIRCLE * 3), ballots_of(CIRCLE * 3), mixed([("one", tally_of(CIRCLE * 3), 0.5)])):
        first, again, other = (
            leaderboard(votes, seeded(seed), policy=policy, bootstrap=bootstrap, resamples=60)
            for seed in (7, 7, 8)
        )
        assert first == again
        assert first != other or first.unranked  # all intervals may be without end


@given(BATTLES)
@few
def test_everything_on_a_board_is_within_its_range(battles: list[Battle]) -> None:
    standings = board_of(battles, TiePolicy.HALF, 60).standings
    assert sum(s.probability_first for s in standings) == pytest.approx(1)
    assert np.mean([s.rating for s in standings]) == pytest.approx(1000)
    for standing in standings:
        assert standing.low <= standing.rating <= standing.high
        assert 1 <= standing.rank <= 4
        assert standing.battles == standing.wins + standing.losses + standing.ties
    assert min(s.rank for s in standings) == 1
    assert [s.rating for s in standings] == sorted((s.rating for s in standings), reverse=True)


@given(BATTLES)
@few
def test_shares_of_a_pair_add_up_to_one(battles: list[Battle]) -> None:
    tally = tally_of(battles)
    shares = tally.win_matrix()
    met = ~np.isnan(shares)
    assert ((shares[met] >= 0) & (shares[met] <= 1)).all()
    assert (shares + shares.T)[met] == pytest.approx(1)
    assert connectivity(tally).groups == (tuple(NAMES),)


@given(SEEDS, st.floats(-9, 9))
@few
def test_adding_a_constant_to_all_strengths_changes_nothing(seed: int, constant: float) -> None:
    rng = seeded(seed)
    theta, draws = rng.normal(size=4), rng.normal(size=(40, 4))
    matrix = np.cov(draws.T)
    for view in VIEWS_OF_STRENGTHS.values():
        here, moved = view(theta, draws, matrix), view(theta + constant, draws + constant, matrix)
        assert here == pytest.approx(moved, abs=1e-7, nan_ok=True)


def numbers(found: object, *names: str) -> np.ndarray:
    return np.concatenate([np.ravel(getattr(found, name)) for name in names])


View = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
RATED = ("rating", "low", "high", "rank", "probability_first")
VIEWS_OF_STRENGTHS: dict[str, View] = {
    "ratings": lambda t, d, _: numbers(summarise(Strengths(t, d)), *RATED),
    "anchored": lambda t, d, _: numbers(summarise(Strengths(t, d), anchor=(1, 1114)), *RATED),
    "differences": lambda t, d, _: numbers(differences(Strengths(t, d)), "gap", "low", "high", "above"),
    "normal": lambda t, _, c: numbers(normal_ratings(t, c), *RATED),
    "normal differences": lambda t, _, c: numbers(normal_differences(t, c), "gap", "low", "high", "above"),
    "advice": lambda t, _, c: np.array([(a.i, a.j, a.shrinkage) for a in most_informative(t, c)]).ravel(),
    "information": lambda t, *_: covariance(t, Pairs.of(np.ones((4, 4)), np.zeros((4, 4)))).ravel(),
}


@given(SEEDS)
@few
def test_standard_errors_do_not_care_about_names_sides_or_scale_of_weights(seed: int) -> None:
    rng = seeded(seed)
    order = rng.permutation(4)
    wins = rng.integers(1, 9, (4, 4)) * (1 - np.eye(4))
    drawn = np.triu(rng.integers(0, 5, (4, 4)), 1).astype(float)
    pairs, moved = (
        Pairs.of(w, d + d.T)
        for w, d in ((wins, drawn), (wins[np.ix_(order, order)], (drawn + drawn.T)[np.ix_(order, order)] / 2))
    )
    matrix, renamed = covariance(fit_pairs(pairs), pairs), covariance(fit_pairs(moved), moved)
    assert renamed == pytest.approx(matrix[np.ix_(order, order)], abs=1e-7)
    votes = CIRCLE + [
        (NAMES[i], NAMES[(i + s) % 4], list(Vote)[v]) for i, s, v in rng.integers(0, 3, (40, 3))
    ]
    votes = [vote for vote in votes if vote[0] != vote[1]]
    theta = fit(tally_of(votes).points(TiePolicy.HALF))
    once = clustered_covariance(theta, ballots_of(votes))
    for same in (ballots_of(mirrored(votes)), ballots_of(votes, weight=3.0)):
        assert clustered_covariance(theta, same) == pytest.approx(once)
    assert np.linalg.eigvalsh(once).min() > -1e-9


@given(SEEDS)
@few
def test_style_control_does_not_care_about_order_names_or_units_of_a_feature(seed: int) -> None:
    rng = seeded(seed)
    votes = CIRCLE + [
        (NAMES[i], NAMES[(i + s) % 4], list(Vote)[v]) for i, s, v in rng.integers(1, 4, (60, 3))
    ]
    style, order = rng.normal(size=(len(votes), 2)), rng.permutation(len(votes))
    ballots = Ballots.of(Ballot(*vote) for vote in votes)
    plain = control(ballots, style, ["length", "bold"])
    shuffled = control(Ballots.of(Ballot(*votes[i]) for i in order), style[order], ["length", "bold"])
    scaled = control(ballots, style * (100, 0.1), ["length", "bold"])
    heavy = control(replace(ballots, weight=ballots.weight * 2), style, ["length", "bold"])
    turned = control(ballots, style[:, ::-1], ["bold", "length"])
    for other in (shuffled, scaled, heavy, turned):
        assert other.theta == pytest.approx(plain.theta, abs=1e-6)
        found = {c.feature: (c.value, c.error) for c in other.coefficients}
        for coefficient in plain.coefficients:
            assert found[coefficient.feature] == pytest.approx(
                (coefficient.value, coefficient.error), abs=1e-6
            )


@pytest.mark.parametrize("arithmetic", Arithmetic)
@given(SEEDS)
@few
def test_renaming_players_or_turning_the_board_renames_an_elo_tournament(
    arithmetic: Arithmetic, seed: int
) -> None:
    rng = seeded(seed)
    a = rng.integers(0, 4, 30)
    b, score, name = (a + rng.integers(1, 4, 30)) % 4, rng.choice([0, 0.5, 1], 30), rng.permutation(4)
    plain, renamed, turned = (
        tournaments(Games(tuple(NAMES), *game), seeded(seed), rounds=5, arithmetic=arithmetic)
        for game in ((a, b, score), (name[a], name[b], score), (b, a, 1 - score))
    )
    assert renamed.rating[name] == pytest.approx(plain.rating)
    assert turned.rating == pytest.approx(plain.rating)
    assert renamed.games[name].tolist() == plain.games.tolist()
    assert (plain.deviation >= 0).all()


@given(SEEDS)
@few
def test_prediction_powered_estimates_do_not_care_about_order_or_side(seed: int) -> None:
    rng = seeded(seed)
    a = np.append([0, 1, 2], rng.integers(0, 3, 77))
    b = np.append([1, 2, 0], (a[3:] + rng.integers(1, 3, 77)) % 3)
    human, judge = np.append([1, 1, 1], rng.choice([0, 0.5, 1], 37)), rng.choice([0.0, 1.0], 80)
    early, order = slice(0, 40), rng.permutation(40)

    def both(turn: bool, place: np.ndarray) -> np.ndarray:
        one, two = (b, a) if turn else (a, b)
        people = Judged(one[early][place], two[early][place], (1 - human if turn else human)[place])
        shown = 1 - judge if turn else judge
        found = ratings(3, people, shown[early][place], Judged(one[40:], two[40:], shown[40:]))
        rates = win_rate(people.score, shown[early][place], shown[40:])
        edge = rates.combined.value - 0.5
        assert found.combined is not None
        assert 0 <= found.trust <= 1
        return np.append(found.combined.theta, [-edge if turn else edge, rates.combined.error, rates.trust])

    plain = both(False, np.arange(40))
    assert both(False, order) == pytest.approx(plain, abs=1e-7)
    assert both(True, np.arange(40)) == pytest.approx(plain, abs=1e-7)


@given(SEEDS)
@few
def test_advice_is_the_same_for_a_pair_named_either_way_round(seed: int) -> None:
    rng = seeded(seed)
    theta, root = rng.normal(size=3), rng.normal(size=(3, 3))
    assert battles_needed(theta, root @ root.T, 0, 2) == battles_needed(theta, root @ root.T, 2, 0)
    assert all(0 < advice.shrinkage < 1 for advice in most_informative(theta, root @ root.T))


@given(SEEDS)
@few
def test_copies_of_all_battles_narrow_the_interval_and_move_no_rating(seed: int) -> None:
    wins = seeded(seed).integers(1, 9, (3, 3)) * (1 - np.eye(3))
    once, many = (rate(wins * times, np.zeros((3, 3)), seeded(1), resamples=300) for times in (1, 25))
    assert many.rating == pytest.approx(once.rating, abs=1e-6)
    assert (many.high - many.low < (once.high - once.low) / 2).all()
