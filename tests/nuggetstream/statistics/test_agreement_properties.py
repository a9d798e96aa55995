"""Agreement and kappa depend neither on sides nor on names."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.agreement import KappaWeights, agreement, confusion_of, weighted_kappa

VOTES = st.lists(st.tuples(st.sampled_from(Vote), st.sampled_from(Vote)), min_size=1, max_size=25)


@given(VOTES, st.randoms())
@settings(max_examples=40, deadline=None)
def test_agreement_does_not_care_about_sides_or_names_of_queries(
    votes: list[tuple[Vote, Vote]], chance: object
) -> None:
    said, meant = [s for s, _ in votes], [m for _, m in votes]
    queries = [str(chance.randrange(4)) for _ in votes]

    def of(one: list[Vote], other: list[Vote], names: list[str]) -> object:
        return agreement(one, other, names, np.random.default_rng(3), 50)

    plain = of(said, meant, queries)
    assert of([v.swapped for v in said], [v.swapped for v in meant], queries) == plain
    assert of(said, meant, [f"query {name}" for name in queries]) == plain
    assert plain.share is None or 0 <= plain.low <= plain.high <= 1


@pytest.mark.parametrize("weights", KappaWeights)
@given(VOTES)
def test_kappa_stays_within_its_range_and_does_not_care_who_is_named_first(
    weights: KappaWeights, votes: list[tuple[Vote, Vote]]
) -> None:
    first, second = [a for a, _ in votes], [b for _, b in votes]
    found = weighted_kappa(confusion_of(first, second), weights)
    assert found is None or -1 - 1e-12 <= found <= 1
    again = weighted_kappa(confusion_of(second, first), weights)
    assert again == (None if found is None else pytest.approx(found))
    assert weighted_kappa(confusion_of(first, first), weights) in (None, pytest.approx(1))
