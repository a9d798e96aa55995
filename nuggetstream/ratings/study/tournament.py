"""The same votes as games of Elo tournaments, and who beat whom how often."""

from dataclasses import dataclass
from math import isnan

import numpy as np

from nuggetstream.ratings.fitting.elo import Arithmetic, Games, tournaments, win_percentages
from nuggetstream.ratings.fitting.tally import Tally, connectivity
from nuggetstream.ratings.notes import named_groups
from nuggetstream.ratings.study.casting import Poll
from nuggetstream.ratings.ties import TiePolicy

_PLAYABLE = 2**28  # games of all rounds: their orders take 2 GB


@dataclass(frozen=True, slots=True)
class Player:
    """One system.

    Attributes:
        rating: Mean rating over the tournaments; None without a game.
        deviation: Standard deviation over the tournaments, from the order of games and not from the votes;
            None without a game and with a single tournament.
        games: Number of games in one tournament.
    """

    system: str
    rating: float | None
    deviation: float | None
    games: int


@dataclass(frozen=True, slots=True)
class Tournament:
    """Tournaments.

    Attributes:
        players: best first, those without a game last.
        missing: why none was played; None where they were.
        islands: groups that never met, though they are in one table; None where there is one group.
    """

    players: tuple[Player, ...]
    arithmetic: Arithmetic
    rounds: int
    missing: str | None = None
    islands: str | None = None


def play(
    poll: Poll, policy: TiePolicy, arithmetic: Arithmetic, *, rounds: int, k: float, seed: int
) -> Tournament:
    """Play every vote that counts once in each of many shuffled tournaments.

    Args:
        poll: the votes; a tie that counts is half a point each, whatever the policy calls it.
        policy: which ties count.
        arithmetic: float, or as RAGElo keeps ratings.
        rounds: tournaments.
        k: largest change of a game.
        seed: of the orders.
    """
    ballots = poll.ballots
    counts = np.flatnonzero(ballots.counting(policy) & (ballots.weight > 0))
    if not len(counts):
        return Tournament((), arithmetic, rounds, "no vote counts: there is no game to play")
    if (ballots.weight[counts] != ballots.weight[counts[0]]).any():
        return Tournament(
            (), arithmetic, rounds, "games are whole: votes of different weight cannot be played"
        )
    if len(counts) * rounds > _PLAYABLE:
        most = _PLAYABLE // len(counts)
        why = f"{len(counts)} games in {rounds} rounds are too many to hold; --rounds {most} would fit"
        return Tournament((), arithmetic, rounds, why)
    games = Games(ballots.systems, ballots.a[counts], ballots.b[counts], ballots.score[counts])
    elo = tournaments(games, np.random.default_rng(seed), rounds=rounds, k=k, arithmetic=arithmetic)
    players = [
        Player(name, rating, deviation if rounds > 1 else None, count)
        if count
        else Player(name, None, None, 0)
        for name, rating, deviation, count in zip(
            elo.systems, elo.rating.tolist(), elo.deviation.tolist(), elo.games.tolist(), strict=True
        )
    ]
    players.sort(key=lambda player: (player.rating is None, -(player.rating or 0.0)))
    islands = [group for group in connectivity(poll.tally, policy).islands if len(group) > 1]
    return Tournament(
        tuple(players), arithmetic, rounds, islands=named_groups(islands) if len(islands) > 1 else None
    )


@dataclass(frozen=True, slots=True)
class WonOutright:
    """How often each system beat each other one, as RAGElo publishes it.

    Attributes:
        percent: row by column: per cent of their battles that the row's system won, ties counted for
            neither; None where they never met.
    """

    systems: tuple[str, ...]
    percent: tuple[tuple[float | None, ...], ...]


def won_outright(tally: Tally) -> WonOutright:
    """Of all the votes, whatever policy on ties the ratings follow."""
    rows = win_percentages(tally).tolist()
    return WonOutright(
        tally.systems, tuple(tuple(None if isnan(share) else share for share in row) for row in rows)
    )
