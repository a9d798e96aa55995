"""Battles and votes in protobuf requests, checked like those in JSON."""

from arena.v1 import arena_pb2, battle_pb2

from nuggetstream.domain.battle import Vote
from nuggetstream.files.submission import BattleSubmission, InvalidSubmission
from services.wire.submitted import submitted_battle

_VOTES: dict[int, Vote] = {
    battle_pb2.VOTE_A: Vote.A,
    battle_pb2.VOTE_B: Vote.B,
    battle_pb2.VOTE_TIE: Vote.TIE,
    battle_pb2.VOTE_BOTH_BAD: Vote.BOTH_BAD,
}


def submission_from(
    request: arena_pb2.SubmitBattleRequest | arena_pb2.SubmitBattlesRequest,
) -> BattleSubmission:
    """The battle in a request.

    Raises:
        InvalidSubmission: naming every field that is wrong and why.
    """
    return submitted_battle(request.battle, vote_from(request.vote) if request.HasField("vote") else None)


def vote_from(number: int) -> Vote:
    """The vote in a request.

    Raises:
        InvalidSubmission: the vote is unspecified, or not in the contract.
    """
    if number not in _VOTES:
        raise InvalidSubmission([f"vote: {number} is not a vote"])
    return _VOTES[number]
