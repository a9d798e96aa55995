"""Votes that are unlikely to be spam."""

import pytest

from nuggetstream.crowd.competence import kept_votes
from nuggetstream.domain.battle import Vote

A, TIE, B = Vote.A, Vote.TIE, Vote.B


def test_a_spam_probability_exactly_at_the_limit_is_kept() -> None:
    assert kept_votes([A, B, TIE], [0.7, 0.7000001, 0.0]) == [A, TIE]
    assert kept_votes([A, B, TIE], [0.0, 1.0, 0.5], limit=1.0) == [A, B, TIE]
    assert kept_votes([A, B], [0.0, 0.1], limit=0.0) == [A]
    with pytest.raises(ValueError, match="probability"):
        kept_votes([A], [float("nan")])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        kept_votes([A, B], [0.1])


def test_no_votes_and_a_limit_that_is_no_number() -> None:
    assert kept_votes([], []) == []
    with pytest.raises(ValueError, match="probability"):
        kept_votes([A], [0.1], limit=float("nan"))
