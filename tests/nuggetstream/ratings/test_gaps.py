"""Meetings of two systems."""

from nuggetstream.ratings.gaps import meetings

from nuggetstream.ratings.tally import TiePolicy
from tests.voted import board, three_systems


def test_meetings_are_told_from_both_sides_as_they_were_cast() -> None:
    rated = board(three_systems(), policy=TiePolicy.DROP)
    told = {(m.system, m.opponent): m for m in meetings(rated.tally, TiePolicy.DROP)}
    assert len(told) == 6
    x_z, z_x = told["x", "z"], told["z", "x"]
    assert (x_z.battles, x_z.wins, x_z.losses, x_z.ties, x_z.both_bad) == (6, 0, 2, 3, 1)
    assert (x_z.share, z_x.share) == (0.0, 1.0)  # the two that count
