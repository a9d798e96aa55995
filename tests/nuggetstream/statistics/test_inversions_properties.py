"""Inversions are counted battle by battle, whoever is A and whoever B."""

from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.inversions import confusion_table, inversions

VOTES = st.lists(st.tuples(st.sampled_from(Vote), st.sampled_from(Vote)), min_size=1, max_size=25)


@given(VOTES)
def test_inversions_are_opposite_winners_whatever_the_sides(
    votes: list[tuple[Vote, Vote]],
) -> None:
    human, computed = [h for h, _ in votes], [c for _, c in votes]
    found = inversions(confusion_table(human, computed))
    assert found.inverted == sum({h, c} == {Vote.A, Vote.B} for h, c in votes)
    assert found.battles == len(votes)
    turned = [[v.swapped for v in side] for side in (human, computed)]
    assert inversions(confusion_table(*turned)) == found
