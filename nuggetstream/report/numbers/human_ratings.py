"""What people's votes say about the systems of an arena: ratings with whole queries independent."""

from collections.abc import Sequence

from nuggetstream.files.evaluated import BattleRow
from nuggetstream.ratings.advice import advise
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.model import OneCluster, Ratings, rate
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.report.lenses import POLICY

NOT_RANKABLE = "people's votes cannot rank any two systems yet"


def human_battles(battles: Sequence[BattleRow]) -> list[BattleRow]:
    """Battles between two systems with a human vote."""
    return [
        battle for battle in battles if battle.human_vote is not None and battle.a.system != battle.b.system
    ]


def human_ratings(battles: Sequence[BattleRow]) -> Ratings | str:
    """Ratings from human votes with a sandwich clustered by query, or why there are none.

    Args:
        battles: Battles of one arena; those of a system with itself say nothing about systems.
    """
    voted = human_battles(battles)
    if not voted:
        return "no battle between two systems has a human vote"
    ballots = Ballots.of(
        Ballot(battle.a.system, battle.b.system, battle.human_vote, cluster=battle.query)
        for battle in voted
        if battle.human_vote is not None
    )
    try:
        ratings = rate(ballots, Options(policy=POLICY, intervals=Intervals.SANDWICH))
    except OneCluster:
        return "all votes are on one query, which says nothing about how queries differ"
    if ratings.fit is None:
        return NOT_RANKABLE
    missing = advise(ratings).missing
    return ratings if missing is None else missing
