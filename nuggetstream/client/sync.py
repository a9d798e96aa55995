"""The client for ordinary programs and notebooks."""

import time
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Self, TypeVar, Unpack

import httpx2

from nuggetstream.client import calls
from nuggetstream.client.administration import Administration
from nuggetstream.client.batches import Batches, submission
from nuggetstream.client.calls import LOCAL, Call, Submission
from nuggetstream.client.exchange import Pause, Step, Steps, exchange
from nuggetstream.client.frames import Frames
from nuggetstream.client.judges import JudgeChecks
from nuggetstream.client.options import (
    AdviceOptions,
    AgreementOptions,
    BattleOptions,
    BoardOptions,
    CombinedOptions,
    PairsOptions,
    StyleOptions,
    TimelineOptions,
)
from nuggetstream.client.patience import Patience
from nuggetstream.client.watching import Watching
from nuggetstream.client.webhooks import WebhookDesk
from nuggetstream.domain.battle import Vote
from nuggetstream.views.battles import (
    BattleSummary,
    BattleView,
    FailureView,
    LineResult,
    Submitted,
    VoteReceipt,
)
from nuggetstream.views.common import Health
from nuggetstream.views.comparisons import AdviceView, AgreementView, CombinedView, PairsView
from nuggetstream.views.ratings import BoardView, TimelineView
from nuggetstream.views.style import StyleBoardView

T = TypeVar("T")


class Client(Administration, JudgeChecks, Frames, WebhookDesk, Watching):
    """A platform over its REST API.

    It keeps connections open, so use it as a context manager or call `close`. It may be shared by threads.

    Args:
        url: Where the gateway answers.
        timeout: Seconds until a connection, or the next part of a reply, counts as lost.
        patience: Seconds during which a request is repeated while the platform is not available. Only what is
            safe to repeat is repeated: reading, submitting (the same battle twice is one battle), and a vote
            only where it cannot have been taken in. 0 tries once.
        key: Key of the platform; the environment variable NUGGETSTREAM_API_KEY when None.
        headers: Sent with every request, for example for a proxy.
        transport: How requests are carried out instead of over the network, for tests.

    Raises:
        ValueError: The address is no HTTP address.
        Unavailable: From every method: nobody answers, or the platform says that it cannot answer now.
        InternalError: From every method: the platform failed.
        UnexpectedReply: From every method: what answers is no gateway of this version.

    >>> with Client() as platform:                                                     # doctest: +SKIP
    ...     battle = {
    ...         "query": "Why is the sky blue?",
    ...         "a": {"system": "x", "text": "Air scatters short waves of light more than long ones."},
    ...         "b": {"system": "y", "text": "It reflects the sea."},
    ...     }
    ...     print(*platform.submit_and_wait(battle).explanation, sep="\\n")
    """

    def __init__(
        self,
        url: str = LOCAL,
        *,
        timeout: float = 30.0,
        patience: float = 10.0,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._patience = patience
        self._timeout = timeout
        self._http = httpx2.Client(
            base_url=calls.base_url(url), headers=calls.headers_of(key, headers), transport=transport
        )

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def submit(self, battle: Submission) -> Submitted:
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
        return self._ask(calls.submit(battle))

    def submit_and_wait(self, battle: Submission, seconds: float = 60.0) -> BattleView:
        """Submit one battle and wait for its end.

        Args:
            battle: As for `submit`.
            seconds: How long to wait, at most 120. The battle goes on either way.

        Returns:
            The battle as far as it has come; `state` says whether it has ended.

        Raises:
            Invalid, Conflict: As `submit`.
        """
        return self._ask(calls.submit_and_wait(battle, seconds))

    def submit_many(self, battles: Iterable[Submission]) -> Iterator[LineResult]:
        """Submit any number of battles; no more than a batch of them is held in memory.

        Args:
            battles: Each as for `submit`.

        Returns:
            One result per battle, in order, once its batch is answered. `line` counts from 1; `status` is
            what the battle alone would have had: 202 new, 200 received before, or 409, 413 and 422 for a
            rejected one, with `error` and `problems`. A battle that is rejected stops no other.
        """
        batches = Batches()
        for battle in battles:
            if lines := batches.add(battle):
                yield from self._run(submission(lines, Patience(self._patience)))
        if lines := batches.rest():
            yield from self._run(submission(lines, Patience(self._patience)))

    def vote(self, battle_id: str, vote: Vote | str) -> VoteReceipt:
        """Vote on a battle; the newest vote counts.

        Args:
            battle_id: The battle, ended or not.
            vote: "a", "b", "tie" or "both_bad".

        Raises:
            NotFound: There is no such battle.
            Invalid: That is no vote.
        """
        return self._ask(calls.vote(battle_id, vote))

    def battle(self, battle_id: str) -> BattleView:
        """Read one battle as far as it has come.

        Raises:
            NotFound: There is no such battle.
        """
        return self._ask(calls.battle(battle_id))

    def battles(
        self, arena: str | None = None, limit: int = 50, **options: Unpack[BattleOptions]
    ) -> list[BattleSummary]:
        """The battles received last, or those that wait most for a vote.

        Args:
            arena: Only of this arena; None for all, in the order "newest".
            limit: At most so many, 1 to 200.
            options: Order and filters, see `BattleOptions`.
        """
        return self._ask(calls.battles(arena, limit, options))

    def failures(
        self, arena: str | None = None, battle_id: str | None = None, limit: int = 50
    ) -> list[FailureView]:
        """Stages that gave up, newest first.

        Args:
            arena: Only of this arena; None for all.
            battle_id: Only of this battle; None for all.
            limit: At most so many, 1 to 200.
        """
        return self._ask(calls.failures(arena, battle_id, limit))

    def leaderboard(self, arena: str = "default", **options: Unpack[BoardOptions]) -> list[BoardView]:
        """The leaderboards of an arena, one per lens.

        Args:
            arena: Whose battles.
            options: How to rate and which battles count, see `BoardOptions`.

        Raises:
            Invalid: An option is wrong, or the anchor is not ranked.
        """
        return self._ask(calls.leaderboard(arena, options))

    def combined(self, arena: str = "default", **options: Unpack[CombinedOptions]) -> CombinedView:
        """Votes of people and automatic ones in one rating, beside each kind alone."""
        return self._ask(calls.combined(arena, options))

    def pairs(self, arena: str = "default", **options: Unpack[PairsOptions]) -> PairsView:
        """Every pair of systems: battles, wins, ties, and how far apart they are."""
        return self._ask(calls.pairs(arena, options))

    def advice(self, arena: str = "default", **options: Unpack[AdviceOptions]) -> AdviceView:
        """Battles still needed to tell neighbours apart, and those that narrow the intervals most."""
        return self._ask(calls.advice(arena, options))

    def timeline(self, arena: str = "default", **options: Unpack[TimelineOptions]) -> TimelineView:
        """Ratings of one lens over time."""
        return self._ask(calls.timeline(arena, options))

    def style(self, arena: str = "default", **options: Unpack[StyleOptions]) -> StyleBoardView:
        """Ratings of one lens with the style of the answers held equal, over the newest battles.

        They are at most ten minutes old; `computed_at` has their time.
        """
        return self._ask(calls.style(arena, options))

    def agreement(self, arena: str = "default", **options: Unpack[AgreementOptions]) -> AgreementView:
        """How far the three lenses of an arena agree."""
        return self._ask(calls.agreement(arena, options))

    def ready(self) -> Health:
        """Whether the gateway can do its work, and if not, why."""
        return self._ask(calls.ready())

    def _ask(self, call: Call[T]) -> T:
        return self._run(exchange(call, Patience(self._patience)))

    def _run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    response = self._carry_out(step)
                except httpx2.TransportError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(response)
        except StopIteration as stop:
            result: T = stop.value
            return result

    def _carry_out(self, step: Step) -> httpx2.Response | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        return self._http.send(self._http.build_request(**calls.arguments(step, self._timeout)))
