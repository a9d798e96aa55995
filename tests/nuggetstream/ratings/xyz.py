"""Three systems and 22 battles between them, as counts and as single ballots."""

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot
from nuggetstream.ratings.fitting.tally import Tally

XYZ = [("x", "y", Vote.A, 6), ("y", "x", Vote.A, 3), ("y", "z", Vote.A, 5), ("z", "y", Vote.A, 2)]
XYZ += [("z", "x", Vote.TIE, 4), ("x", "z", Vote.BOTH_BAD, 2)]
HALF = Tally.count(XYZ)


def ballots_of_xyz(cluster: bool = False) -> list[Ballot]:
    return [
        Ballot(a, b, vote, cluster=f"query {n}" if cluster else None)
        for a, b, vote, count in XYZ
        for n in range(count)
    ]
