"""Battles and votes in protobuf requests, checked like those in JSON."""

from typing import Any

from arena.v1 import arena_pb2, battle_pb2

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.files.submission import BattleSubmission, InvalidSubmission
from nuggetstream.files.vote_submission import InvalidVote, parse_vote
from nuggetstream.views.battles import Submitted
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
    vote = vote_from(request.vote) if request.HasField("vote") else None
    return submitted_battle(request.battle, vote, *_voter_and_comment(request))


def human_vote_from(request: arena_pb2.CastVoteRequest) -> HumanVote:
    """The vote in a request that casts one.

    Raises:
        InvalidSubmission: a field is not what it should be.
    """
    voter, comment = _voter_and_comment(request)
    fields = {"vote": vote_from(request.vote), "voter": voter, "comment": comment}
    try:
        return parse_vote(fields).to_core()
    except InvalidVote as error:
        raise InvalidSubmission([str(error)]) from None


def _voter_and_comment(
    request: arena_pb2.SubmitBattleRequest | arena_pb2.SubmitBattlesRequest | arena_pb2.CastVoteRequest,
) -> tuple[str | None, str | None]:
    voter = request.voter if request.HasField("voter") else None
    return voter, request.comment if request.HasField("comment") else None


def submitted_fields(submitted: Submitted) -> dict[str, Any]:
    """The fields of a reply to a submission."""
    number = next((number for number, vote in _VOTES.items() if vote is submitted.vote), None)
    return submitted.model_dump() | {"vote": number}


def vote_from(number: int) -> Vote:
    """The vote in a request.

    Raises:
        InvalidSubmission: the vote is unspecified, or not in the contract.
    """
    if number not in _VOTES:
        raise InvalidSubmission([f"vote: {number} is not a vote"])
    return _VOTES[number]
