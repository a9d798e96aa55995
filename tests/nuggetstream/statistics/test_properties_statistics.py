"""What must hold for the small statistics: names, order, sides and units change only what they name."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nuggetstream.crowd.ballot import Ballots
from nuggetstream.crowd.differentiability import is_decided
from nuggetstream.crowd.mace import mace
from nuggetstream.domain.battle import Vote
from nuggetstream.nuggets.preference import sweep, threshold_by_kappa
from nuggetstream.statistics.bland_altman import bland_altman
from nuggetstream.statistics.inversions import confusion_table, inversions
from nuggetstream.statistics.order_effects import position_preference, swapped
from nuggetstream.statistics.paired import benjamini_hochberg, wilcoxon
from nuggetstream.statistics.ranks import kendall, pearson, spearman

LABELS = (Vote.A, Vote.TIE, Vote.B)
PAIRS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=15)
VOTES = st.lists(st.tuples(st.sampled_from(Vote), st.sampled_from(Vote)), min_size=1, max_size=25)
MARGINS = st.lists(
    st.tuples(st.integers(-20, 20).map(lambda n: n / 20), st.sampled_from(LABELS)), min_size=1, max_size=20
)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.array(pairs, dtype=float).T
    return x, y


@pytest.mark.parametrize("correlate", [kendall, spearman, pearson])
@given(PAIRS, st.integers(-5, 5), st.integers(1, 9))
def test_a_correlation_does_not_care_about_units_or_which_list_is_first(
    correlate, pairs: list[tuple[int, int]], shift: int, scale: int
) -> None:
    x, y = columns(pairs)
    found = correlate(x, y)
    assume(found is not None)
    for other in (correlate(y, x), correlate(x * scale + shift, y)):
        assert (other.coefficient, other.p_value) == pytest.approx(
            (found.coefficient, found.p_value),
            abs=1e-6,  # a p-value near 0 is the root of a rounding error
        )
    assert correlate(-x, y).coefficient == pytest.approx(-found.coefficient)
    assert correlate(x, x).coefficient == pytest.approx(1)
    assert 0 <= found.p_value <= 1


@given(PAIRS.map(lambda pairs: pairs[:7]), st.integers(-5, 5), st.randoms())
@settings(max_examples=40)
def test_paired_measurements_moved_together_or_in_another_order_differ_as_before(
    pairs: list[tuple[int, int]], shift: int, chance: object
) -> None:
    x, y = columns(pairs)
    order = chance.sample(range(len(x)), len(x))
    found, moved, shuffled = wilcoxon(x, y), wilcoxon(x + shift, y + shift), wilcoxon(x[order], y[order])
    turned = wilcoxon(y, x)
    assert (found is None) == (moved is None) == (shuffled is None) == (turned is None)
    if found is not None:
        assert moved.p_value == pytest.approx(found.p_value)
        assert shuffled.p_value == pytest.approx(found.p_value)
        assert (turned.p_value, turned.mean_difference) == pytest.approx(
            (found.p_value, -found.mean_difference)
        )
    limits, moved_limits = bland_altman(x, y), bland_altman(x + shift, y + shift)
    assert (moved_limits.low, moved_limits.bias, moved_limits.high) == pytest.approx(
        (limits.low, limits.bias, limits.high)
    )
    assert limits.low_interval[0] <= limits.low <= limits.bias <= limits.high <= limits.high_interval[1]


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1), min_size=1), st.randoms())
def test_the_order_of_tests_never_matters(values: dict[str, float], chance: object) -> None:
    shuffled = dict(chance.sample(list(values.items()), len(values)))
    found = benjamini_hochberg(values)
    assert benjamini_hochberg(shuffled) == pytest.approx(found)
    assert all(values[name] - 1e-12 <= adjusted <= 1 for name, adjusted in found.items())


@given(VOTES)
def test_inversions_and_positions_mirror_with_the_sides(votes: list[tuple[Vote, Vote]]) -> None:
    human, computed = [h for h, _ in votes], [c for _, c in votes]
    turned = [[swapped(v) for v in side] for side in (human, computed)]
    assert inversions(confusion_table(*turned)) == inversions(confusion_table(human, computed))
    here, there = position_preference(human), position_preference(turned[0])
    assert (here.first, here.second, here.ties) == (there.second, there.first, there.ties)
    assert here.p_value == there.p_value
    if here.share is not None:
        assert here.share + there.share == pytest.approx(1)


@given(MARGINS, st.randoms(), st.integers(0, 20).map(lambda n: n / 20))
def test_a_sweep_does_not_care_about_order_and_mirrors_with_the_sides(
    battles: list[tuple[float, Vote]], chance: object, threshold: float
) -> None:
    def at(rows: list[tuple[float, Vote]]) -> np.ndarray:
        return sweep([m for m, _ in rows], [v for _, v in rows], [threshold])[0].confusion

    assert (at(chance.sample(battles, len(battles))) == at(battles)).all()
    turned = [(-margin, swapped(vote)) for margin, vote in battles]
    assert (at(turned) == at(battles)[::-1, ::-1]).all()
    assert (at(battles + battles) == 2 * at(battles)).all()
    if len({vote for _, vote in battles}) > 1:
        best, again = (
            threshold_by_kappa([m for m, _ in rows], [v for _, v in rows]) for rows in (battles, turned)
        )
        assert best.threshold == again.threshold
        assert best.kappa == pytest.approx(again.kappa, abs=1e-9)


@given(st.lists(st.sampled_from(Vote), max_size=9), st.randoms())
def test_whether_votes_decide_does_not_depend_on_who_voted_first(votes: list[Vote], chance: object) -> None:
    assert is_decided(chance.sample(votes, len(votes))) is is_decided(votes)
    assert is_decided([swapped(vote) for vote in votes]) is is_decided(votes)


@given(st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_renaming_items_workers_and_labels_renames_what_mace_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = [(item, worker, LABELS[rng.integers(3)]) for item in range(8) for worker in range(4)]
    renamed = [(f"item {i}", f"worker {w}", swapped(label)) for i, w, label in votes]
    plain = mace(Ballots.collect(votes, LABELS), np.random.default_rng(1), restarts=2)
    other = mace(Ballots.collect(renamed, [swapped(v) for v in LABELS]), np.random.default_rng(1), restarts=2)
    assert (plain.posterior == other.posterior).all()
    assert other.gold == {f"item {i}": swapped(label) for i, label in plain.gold.items()}
    assert plain.posterior.sum(axis=1) == pytest.approx(1)
    assert ((plain.spam >= 0) & (plain.spam <= 1)).all()
