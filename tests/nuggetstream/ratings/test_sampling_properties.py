"""Advice about a pair is the same whichever system is named first."""

from hypothesis import given

from nuggetstream.ratings.fitting.sampling import battles_needed, most_informative
from tests.nuggetstream.ratings.drawn import SEEDS, few, seeded


@given(SEEDS)
@few
def test_advice_is_the_same_for_a_pair_named_either_way_round(seed: int) -> None:
    rng = seeded(seed)
    theta, root = rng.normal(size=3), rng.normal(size=(3, 3))
    assert battles_needed(theta, root @ root.T, 0, 2) == battles_needed(theta, root @ root.T, 2, 0)
    assert all(0 < advice.shrinkage < 1 for advice in most_informative(theta, root @ root.T))
