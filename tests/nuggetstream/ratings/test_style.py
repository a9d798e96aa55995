"""Boards at equal style."""

from collections.abc import Sequence

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.files.votes import CastVote
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.study.casting import poll, systems_of
from nuggetstream.ratings.style import EqualStyle, StyledVotes, at_equal_style
from nuggetstream.ratings.ties import TiePolicy
from tests.voted import board, source, vote


def styled(votes: Sequence[CastVote], policy: TiePolicy = TiePolicy.HALF) -> EqualStyle:
    sources = (source(*votes),)
    single = poll(sources, systems_of(sources))
    of_a, of_b = np.array([row.style_a for row in votes]), np.array([row.style_b for row in votes])
    return at_equal_style(
        StyledVotes(single.ballots, of_a[single.row], of_b[single.row], ("words",)), Options(policy=policy)
    )


def liking_length(count: int = 40) -> list[CastVote]:
    """Whoever writes more wins, three times in four; x writes more in most battles."""
    rng = np.random.default_rng(3)
    votes = []
    for _ in range(count):
        long_x, longer_wins = rng.random() < 0.8, rng.random() < 0.75
        a, b = (30.0, 10.0) if long_x else (10.0, 30.0)
        outcome = Vote.A if long_x == longer_wins else Vote.B
        votes.append(vote("x", "y", outcome, style_a=(a,), style_b=(b,)))
    return votes


def test_at_equal_length_the_longer_writer_is_no_longer_ahead() -> None:
    votes = liking_length(400)
    plain = board(source(*votes)).standings[0]
    controlled = styled(votes)
    x = next(standing for standing in controlled.standings if standing.system == "x")
    (length,) = controlled.coefficients
    assert plain.system == "x"
    assert plain.low is not None
    assert plain.low > 1000
    assert x.low is not None
    assert x.low < 1000
    assert length.feature == "words"
    assert length.low is not None
    assert length.low > 0


def test_style_that_decides_everything_or_is_the_system_has_no_answer() -> None:
    always = [vote("x", "y", Vote.A, 4, style_a=(3.0,), style_b=(1.0,))]
    assert styled(always).missing == "no two systems can be ranked yet"
    confounded = [*always, vote("x", "y", Vote.B, 2, style_a=(3.0,), style_b=(1.0,))]
    assert "collinear" in str(styled(confounded).missing)
    perfect = [
        vote("x", "y", Vote.A, 9, style_a=(3.0,), style_b=(1.0,)),
        vote("x", "y", Vote.B, 9, style_a=(1.0,), style_b=(3.0,)),
    ]
    assert "style predicts the votes perfectly" in str(styled(perfect).missing)
    assert "not davidson" in str(styled(liking_length(), policy=TiePolicy.DAVIDSON).missing)
