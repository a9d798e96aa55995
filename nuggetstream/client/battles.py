"""Battles: sending, voting, reading, and showing one in a frame."""

import json
from typing import Unpack

from nuggetstream.client.calls import Call, Submission, encoded, path_of
from nuggetstream.client.options import BattleOptions, params_of
from nuggetstream.client.replies import reader
from nuggetstream.client.requests import request
from nuggetstream.domain.battle import Vote
from nuggetstream.views.battles import BattleSummary, BattleView, FailureView, Submitted
from nuggetstream.views.common import Health
from nuggetstream.views.embedding import EmbedToken
from nuggetstream.views.votes import VoteReceipt


class Battles:
    """Requests about battles."""

    @request
    def submit(self, battle: Submission) -> Call[Submitted]:
        """Submit one battle.

        Args:
            battle: A dictionary such as `{"query": ..., "a": {"system": ..., "text": ...}, "b": {...}}`, or a
                checked `BattleSubmission`. Without an id, the content names the battle.

        Returns:
            The id, and whether the battle is new. After a lost reply, a battle that was taken in by the first
            try is not new to the second.

        Raises:
            Invalid: A field is wrong; `problems` names each.
            Conflict: The id belongs to a battle with other content.
        """
        # The same battle sent twice is one battle, so it may be repeated.
        return Call(method="POST", path="/v1/battles", read=reader(Submitted), body=encoded(battle))

    @request
    def submit_and_wait(self, battle: Submission, seconds: float = 60.0) -> Call[BattleView]:
        """Submit one battle and wait for its end.

        Args:
            battle: As for `submit`.
            seconds: How long to wait, at most 120. The battle goes on either way.

        Returns:
            The battle as far as it has come; `state` says whether it has ended.

        Raises:
            Invalid, Conflict: As `submit`.
        """
        return Call(
            method="POST",
            path="/v1/battles",
            read=reader(BattleView),
            params=params_of({"wait": seconds}),
            body=encoded(battle),
            waiting=seconds,
        )

    @request
    def vote(
        self, battle_id: str, vote: Vote | str, voter: str | None = None, comment: str | None = None
    ) -> Call[VoteReceipt]:
        """Vote on a battle; the newest vote of each voter counts, and of several voters the majority.

        Args:
            battle_id: The battle, ended or not.
            vote: "a", "b", "tie" or "both_bad".
            voter: Opaque id of the person who votes; None where it is not known.
            comment: Why, in the words of the person.

        Raises:
            NotFound: There is no such battle.
            Invalid: That is no vote.
        """
        body = {"vote": str(vote), "voter": voter, "comment": comment}
        return Call(
            method="POST",
            path=f"{path_of(battle_id)}/vote",
            read=reader(VoteReceipt),
            body=json.dumps(
                {name: value for name, value in body.items() if value is not None}, ensure_ascii=False
            ).encode(),
            repeatable=False,  # a late second copy could replace somebody else's vote
        )

    @request
    def battle(self, battle_id: str) -> Call[BattleView]:
        """Read one battle as far as it has come.

        Raises:
            NotFound: There is no such battle.
        """
        return Call(method="GET", path=path_of(battle_id), read=reader(BattleView))

    @request
    def battles(
        self, arena: str | None = None, limit: int = 50, **options: Unpack[BattleOptions]
    ) -> Call[list[BattleSummary]]:
        """The battles received last, or those that wait most for a vote.

        Args:
            arena: Only of this arena; None for all, in the order "newest".
            limit: At most so many, 1 to 200.
            options: Order and filters, see `BattleOptions`.
        """
        params = params_of({"arena": arena, "limit": limit, **options})
        return Call(method="GET", path="/v1/battles", read=reader(list[BattleSummary]), params=params)

    @request
    def failures(
        self, arena: str | None = None, battle_id: str | None = None, limit: int = 50
    ) -> Call[list[FailureView]]:
        """Stages that gave up, newest first.

        Args:
            arena: Only of this arena; None for all.
            battle_id: Only of this battle; None for all.
            limit: At most so many, 1 to 200.
        """
        params = params_of({"arena": arena, "battle": battle_id, "limit": limit})
        return Call(method="GET", path="/v1/failures", read=reader(list[FailureView]), params=params)

    @request
    def embed_token(self, battle_id: str, minutes: int = 60, *, vote: bool = False) -> Call[EmbedToken]:
        """Make a token with which a web page shows one battle in a frame; each request makes another one.

        Args:
            battle_id: The battle.
            minutes: Minutes until it expires, 1 to 1440.
            vote: Whether the frame has buttons to vote; the key needs the role "vote".

        Raises:
            NotFound: There is no such battle.
            Forbidden: The key has no right to this.
        """
        body = json.dumps({"vote": vote, "minutes": minutes}).encode()
        path = f"{path_of(battle_id)}/embed-token"
        return Call(method="POST", path=path, read=reader(EmbedToken), body=body)

    @request
    def ready(self) -> Call[Health]:
        """Whether the gateway can do its work, and if not, why."""
        return Call(method="GET", path="/readyz", read=reader(Health, accepted=(503,)))
