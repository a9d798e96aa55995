"""A crowd that says nothing, or always the same."""

import numpy as np
import pytest

from nuggetstream.crowd.ballot import Ballots
from nuggetstream.crowd.competence import kept_votes
from nuggetstream.crowd.differentiability import Split, split_by_differentiability
from nuggetstream.crowd.grades import grades, merits, same_order
from nuggetstream.crowd.mace import mace
from nuggetstream.domain.battle import Vote

NAN = float("nan")
A, TIE, B, BAD = Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD


def seeded() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_crowd_that_says_nothing_or_always_the_same() -> None:
    assert kept_votes([], []) == []
    with pytest.raises(ValueError, match="probability"):
        kept_votes([A], [0.1], limit=NAN)
    assert split_by_differentiability({}) == Split((), ())
    same = Ballots.collect([(item, worker, A) for item in range(3) for worker in range(3)], (A, B))
    found = mace(same, seeded(), restarts=2)
    assert set(found.gold.values()) == {A}
    assert ((found.spam >= 0) & (found.spam <= 1)).all()
    alone = mace(Ballots.collect([("item", "worker", B)], (A, B)), seeded(), restarts=2)
    assert alone.posterior.sum() == pytest.approx(1)


def test_a_missing_merit_is_not_the_best() -> None:
    with pytest.raises(ValueError, match="missing or not finite"):
        grades(["x", "y"], np.array([NAN, 1.0]))
    with pytest.raises(ValueError, match="there must be an item"):
        merits([], 0)
    assert merits([], 2) == pytest.approx(np.ones(2))
    assert grades([], np.array([])) == {}
    assert same_order({}, {})
