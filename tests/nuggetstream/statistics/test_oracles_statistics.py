"""The small statistics against definitions written out, and against another library where there is one."""

from collections import Counter
from itertools import combinations, permutations, product
from math import comb, log2, sqrt

import evalica
import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.rubric.retrieval import evaluate_all
from nuggetstream.statistics.agreement import agreement
from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from nuggetstream.statistics.inversions import confusion_table, inversions
from nuggetstream.statistics.krippendorff import Level, alpha
from nuggetstream.statistics.order_effects import position_preference
from nuggetstream.statistics.paired import benjamini_hochberg, wilcoxon
from nuggetstream.statistics.ranks import kendall, pearson, spearman

LISTS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=25)
SAMPLES = st.lists(st.integers(-9, 9), min_size=1, max_size=20)
VOTES = st.sampled_from(Vote)


def columns(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    x, y = zip(*pairs, strict=True)
    return list(x), list(y)


@given(LISTS)
def test_kendall_is_concordant_less_discordant_pairs(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in combinations(pairs, 2)]
    apart = sqrt(sum(s != 0 for s, _ in signs) * sum(t != 0 for _, t in signs))
    found = kendall(x, y)
    if found is None:
        assert apart == 0
        return
    assert found.coefficient == pytest.approx(sum(s * t for s, t in signs) / apart)
    assert found.p_value == stats.kendalltau(x, y).pvalue


@given(LISTS)
def test_spearman_is_pearson_of_averaged_ranks(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)

    def ranks(values: list[int]) -> list[float]:
        return [sum(o < v for o in values) + (sum(o == v for o in values) + 1) / 2 for v in values]

    found = spearman(x, y)
    if found is None:
        assert len(set(x)) == 1 or len(set(y)) == 1
        return
    assert found.coefficient == pytest.approx(np.corrcoef(ranks(x), ranks(y))[0, 1])
    straight = pearson(x, y)
    assert straight is not None
    assert straight.coefficient == pytest.approx(np.corrcoef(x, y)[0, 1])
    if len(x) > 2:  # two points are always on a line
        assert straight.p_value == pytest.approx(stats.linregress(x, y).pvalue, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_hochberg_rejects_what_the_step_up_procedure_rejects(values: list[float]) -> None:
    adjusted = benjamini_hochberg(dict(enumerate(values)))
    assert list(adjusted.values()) == pytest.approx(stats.false_discovery_control(values).tolist())
    m, ordered = len(values), sorted(values)
    for rate in (0.0137, 0.0519, 0.2113):  # no p-value lands on such a rate, where rounding would decide
        passed = [p for k, p in enumerate(ordered, start=1) if p * m / k <= rate]
        rejected = {i for i, p in enumerate(values) if passed and p <= max(passed)}
        assert {i for i, p in adjusted.items() if p <= rate} == rejected


@given(st.lists(st.integers(1, 30), min_size=1, max_size=9, unique=True), st.data())
@settings(max_examples=40, deadline=None)
def test_wilcoxon_counts_every_way_the_signs_could_have_fallen(sizes: list[int], data: st.DataObject) -> None:
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    found = wilcoxon([s * size for s, size in zip(signs, sizes, strict=True)], [0] * len(sizes))
    rank = [sorted(sizes).index(size) + 1 for size in sizes]

    def smaller(fallen: tuple[int, ...] | list[int]) -> int:
        up = sum(r for s, r in zip(fallen, rank, strict=True) if s > 0)
        return min(up, sum(rank) - up)

    every = [smaller(fallen) for fallen in product([-1, 1], repeat=len(sizes))]
    assert found is not None
    assert found.statistic == smaller(signs)
    assert found.p_value == pytest.approx(np.mean([w <= smaller(signs) for w in every]))


@given(st.integers(0, 25), st.integers(0, 25))
def test_the_test_of_the_first_place_adds_up_what_is_no_likelier(first: int, second: int) -> None:
    assume(first + second)
    n = first + second
    chance = [comb(n, k) / 2**n for k in range(n + 1)]
    found = position_preference([Vote.A] * first + [Vote.B] * second)
    assert found.p_value == pytest.approx(sum(p for p in chance if p <= chance[first] * (1 + 1e-9)))


@pytest.mark.parametrize("level", Level)
@given(
    st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 3]), min_size=4, max_size=4), min_size=2, max_size=9)
)
@settings(max_examples=40, deadline=None)
def test_evalica_and_krippendorff_find_the_same_alpha(level: Level, rows: list[list[int | None]]) -> None:
    found = alpha([[value for value in row if value is not None] for row in rows], range(4), level)
    assume(found is not None)
    coders = np.array([[np.nan if value is None else value for value in row] for row in rows]).T
    assert found == pytest.approx(evalica.alpha(pd.DataFrame(coders), distance=level.value).alpha)
    assert found == pytest.approx(krippendorff.alpha(coders, level_of_measurement=level.value))


@given(
    st.lists(st.permutations("abcdef").map(lambda keys: keys[:4]), min_size=1, max_size=4), st.integers(0, 90)
)
def test_a_fused_score_is_a_sum_over_places(rankings: list[list[str]], constant: int) -> None:
    fused = reciprocal_rank_fusion(rankings, constant)
    expected = {
        key: sum(1 / (constant + row.index(key) + 1) for row in rankings if key in row)
        for key in {key for row in rankings for key in row}
    }
    assert dict(fused) == pytest.approx(expected)
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
    assert max(expected.values()) <= len(rankings) / (constant + 1) + 1e-12


def test_a_key_that_repeats_counts_once_at_its_best_place() -> None:
    assert reciprocal_rank_fusion([["x", "x", "y"]]) == reciprocal_rank_fusion([["x", "y"]])


GRADED = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1)


@given(GRADED, st.permutations("abcdefgh"), st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_ndcg_and_mrr_in_a_few_lines(labels: dict[str, int], ranking: list[str], k: int) -> None:
    rows = [Relevance("q", document, label) for document, label in labels.items()]
    gains = [labels.get(document, 0) for document in ranking]
    dcg, ideal = (
        sum(gain / log2(place + 2) for place, gain in enumerate(found[:k]))
        for found in (gains, sorted(labels.values(), reverse=True))
    )
    first = next((1 / (place + 1) for place, gain in enumerate(gains[:k]) if gain), 0)
    run = {"run": {"q": ranking}}
    ndcg, mrr = (evaluate_all(run, rows, f"{name}@{k}")["run"].mean for name in ("nDCG", "RR"))
    assert (ndcg, mrr) == pytest.approx((dcg / ideal if ideal else 0, first))


@given(st.lists(st.tuples(VOTES, VOTES), min_size=1, max_size=30))
def test_inversions_and_agreement_counted_battle_by_battle(battles: list[tuple[Vote, Vote]]) -> None:
    human, computed = [h for h, _ in battles], [c for _, c in battles]
    found = inversions(confusion_table(human, computed))
    assert found.inverted == sum({h, c} == {Vote.A, Vote.B} for h, c in battles)
    assert found.battles == len(battles)
    tied = (Vote.TIE, Vote.BOTH_BAD)
    credit = [0.5 if c in tied else float(c is h) for h, c in battles if h not in tied]
    share = agreement(computed, human, [str(i) for i in range(len(battles))], np.random.default_rng(0), 50)
    assert share.share == (pytest.approx(sum(credit) / len(credit)) if credit else None)
    assert (share.compared, share.reference_ties) == (len(credit), len(battles) - len(credit))


def test_the_interval_of_an_agreement_is_that_of_every_way_to_draw_the_queries() -> None:
    """Three queries of unequal size: all 27 draws listed, and their percentiles."""
    hits = {"p": [1, 1], "q": [0], "r": [1, 0, 0]}
    means = Counter(
        sum(sum(hits[name]) for name in drawn) / sum(len(hits[name]) for name in drawn)
        for drawn in product(hits, repeat=3)
    )
    exact = np.quantile(list(means.elements()), [0.025, 0.975], method="inverted_cdf")
    rows = [(Vote.A if hit else Vote.B, name) for name, votes in hits.items() for hit in votes]
    found = agreement(
        [vote for vote, _ in rows], [Vote.A] * 6, [name for _, name in rows], np.random.default_rng(1), 20_000
    )
    assert (found.low, found.high) == pytest.approx(tuple(exact))


def test_votes_that_all_agree_are_no_certainty() -> None:
    """Drawn again they agree again; the interval is Wilson's, and a query counts once however long."""
    one = agreement([Vote.A] * 9, [Vote.A] * 9, ["same"] * 9, np.random.default_rng(0))
    nine = agreement([Vote.A] * 9, [Vote.A] * 9, list("abcdefghi"), np.random.default_rng(0))
    for found, queries in ((one, 1), (nine, 9)):
        theirs = stats.binomtest(queries, queries).proportion_ci(0.95, "wilson")
        assert (found.low, found.high) == pytest.approx((theirs.low, 1.0))


def test_over_all_orders_tau_is_distributed_as_its_table_says() -> None:
    """With four things, tau takes the values of its exact distribution as often as it should."""
    seen = Counter(
        round(kendall([1, 2, 3, 4], list(order)).coefficient * 6) for order in permutations(range(4))
    )
    assert [seen[s] for s in (-6, -4, -2, 0, 2, 4, 6)] == [1, 3, 5, 6, 5, 3, 1]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=6))
@settings(max_examples=30, deadline=None)
def test_the_p_value_of_a_short_spearman_is_that_of_every_order(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    found = spearman(x, y)
    assume(found is not None)
    assert found.coefficient == pytest.approx(stats.spearmanr(x, y).statistic)
    every = [abs(stats.spearmanr(x, order).statistic) for order in permutations(y)]
    assert found.p_value == pytest.approx(np.mean([r >= abs(found.coefficient) - 1e-9 for r in every]))


def test_two_pairs_in_the_same_order_prove_nothing() -> None:
    for correlate in (kendall, spearman, pearson):
        found = correlate([1, 2], [3, 9])
        assert (found.coefficient, found.p_value) == (pytest.approx(1), 1)


def test_numbers_that_differ_by_rounding_only_are_the_same_number() -> None:
    assert kendall([0.3, 0.1 + 0.2, 0.3], [1, 2, 3]) is None
