"""Agreement counted battle by battle, and its interval over every way to draw the queries."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.agreement import agreement

VOTES = st.sampled_from(Vote)


@given(st.lists(st.tuples(VOTES, VOTES), min_size=1, max_size=30))
def test_agreement_counted_battle_by_battle(battles: list[tuple[Vote, Vote]]) -> None:
    human, computed = [h for h, _ in battles], [c for _, c in battles]
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
