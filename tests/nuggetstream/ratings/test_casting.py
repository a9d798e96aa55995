"""Votes of files, counted or held one by one."""

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.study.casting import TooManyVotes, poll
from tests.voted import board, source, vote


def test_more_votes_than_can_be_held_one_by_one_are_refused_and_counted_all_the_same() -> None:
    votes = source(vote("x", "y", Vote.A, 10**9), vote("x", "y", Vote.B, 10**9))
    assert board(votes).standings[0].battles == 2e9
    with pytest.raises(TooManyVotes):
        poll((votes,), ("x", "y"))
