"""Agreement with people: intervals of few votes, and where there is no answer."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.agreement import Agreement, agreement, clustered_interval, confusion_of

NAN = float("nan")
A, TIE, B, BAD = Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD


def seeded() -> np.random.Generator:
    return np.random.default_rng(0)


def test_agreement_about_nothing_is_none() -> None:
    assert agreement([], [], [], seeded()) == Agreement(None, None, None, 0, 0, 0)
    assert agreement([A, B], [TIE, BAD], ["1", "2"], seeded()) == Agreement(None, None, None, 0, 2, 0)
    assert confusion_of([], []).sum() == 0
    with pytest.raises(ValueError, match="0 resamples"):
        agreement([A], [A], ["1"], seeded(), resamples=0)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        agreement([A, B], [A], ["1"], seeded())
    for values, clusters in (([], []), ([1.0, NAN], ["1", "2"]), ([1.0], ["1", "2"])):
        with pytest.raises(ValueError, match="resamples of"):
            clustered_interval(np.array(values), clusters, seeded(), 9)


def test_a_tie_of_every_prediction_agrees_by_half_and_is_not_sure_of_it() -> None:
    found = agreement([TIE] * 4, [A, B, A, B], list("wxyz"), seeded())
    assert found.share == 0.5
    assert found.low < 0.2 < 0.8 < found.high


def test_votes_that_all_agree_are_no_certainty() -> None:
    """Drawn again they agree again; the interval is Wilson's, and a query counts once however long."""
    one = agreement([Vote.A] * 9, [Vote.A] * 9, ["same"] * 9, np.random.default_rng(0))
    nine = agreement([Vote.A] * 9, [Vote.A] * 9, list("abcdefghi"), np.random.default_rng(0))
    for found, queries in ((one, 1), (nine, 9)):
        theirs = stats.binomtest(queries, queries).proportion_ci(0.95, "wilson")
        assert (found.low, found.high) == pytest.approx((theirs.low, 1.0))


@pytest.mark.parametrize("clusters", [1, 7, 1000])
def test_resamples_drawn_in_chunks_are_those_drawn_at_once(
    clusters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(1).random(3 * clusters)
    names = [str(number % clusters) for number in range(3 * clusters)]
    at_once = clustered_interval(values, names, seeded(), 501)
    monkeypatch.setattr("nuggetstream.statistics.agreement._CHUNK", 64)
    assert clustered_interval(values, names, seeded(), 501) == at_once


def test_an_interval_of_many_clusters_takes_little_memory() -> None:
    names = [f"query {number}" for number in range(100_000)]
    values = np.random.default_rng(1).random(len(names))
    tracemalloc.start()
    try:
        clustered_interval(values, names, seeded(), 200)  # 160 MB of draws
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 120e6
