"""Every request of the API as a value: what is sent, and how the reply is read. No I/O."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import quote

import httpx2

from nuggetstream.client.options import (
    AdminFailureOptions,
    AdviceOptions,
    AgreementOptions,
    BattleOptions,
    BoardOptions,
    CombinedOptions,
    ExpiryOptions,
    PairsOptions,
    StyleOptions,
    TimelineOptions,
    params_of,
)
from nuggetstream.client.replies import reader
from nuggetstream.domain.battle import Vote
from nuggetstream.files.nugget_edit import NuggetEditSubmission
from nuggetstream.files.submission import BattleSubmission
from nuggetstream.views.battles import BattleSummary, BattleView, FailureView, Submitted, VoteReceipt
from nuggetstream.views.biases import JudgeBiasView
from nuggetstream.views.calls import CallView
from nuggetstream.views.canary import CanaryRunView
from nuggetstream.views.common import Health
from nuggetstream.views.comparisons import AdviceView, AgreementView, CombinedView, PairsView
from nuggetstream.views.deletion import BattleDeletion, Expiry
from nuggetstream.views.failures import FailureAction, FailureEntry
from nuggetstream.views.nuggets import NuggetEditView
from nuggetstream.views.ratings import BoardView, TimelineView
from nuggetstream.views.style import StyleBoardView

T_co = TypeVar("T_co", covariant=True)
Submission: TypeAlias = BattleSubmission | Mapping[str, Any]
JSON = "application/json"
_ADMIN = "/v1/admin/failures"
KEY_VARIABLE = "NUGGETSTREAM_API_KEY"
LOCAL = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Call(Generic[T_co]):
    """One request.

    Attributes:
        method: Of HTTP.
        path: Quoted, from the root of the API.
        read: Makes a result of a successful reply.
        params: Query parameters; a name may occur more than once.
        body: What is sent.
        media_type: Media type of the body.
        repeatable: Whether doing it twice is the same as doing it once. If not, it is repeated only where
            the platform cannot have acted on it.
        waiting: Seconds that the platform may take on purpose, beyond the usual timeout.
    """

    method: str
    path: str
    read: Callable[[httpx2.Response], T_co]
    params: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    media_type: str = JSON
    repeatable: bool = True
    waiting: float = 0.0


def submit(battle: Submission) -> Call[Submitted]:
    """Submit one battle. The same battle sent twice is one battle, so it may be repeated."""
    return Call(method="POST", path="/v1/battles", read=reader(Submitted), body=encoded(battle))


def submit_and_wait(battle: Submission, seconds: float) -> Call[BattleView]:
    """Submit one battle and wait for its end."""
    return Call(
        method="POST",
        path="/v1/battles",
        read=reader(BattleView),
        params=params_of({"wait": seconds}),
        body=encoded(battle),
        waiting=seconds,
    )


def vote(battle_id: str, preferred: Vote | str) -> Call[VoteReceipt]:
    """Vote on a battle. The newest vote counts, so a late second copy could replace somebody else's."""
    body = json.dumps({"vote": str(preferred)}).encode()
    return Call(
        method="POST", path=f"{_path(battle_id)}/vote", read=reader(VoteReceipt), body=body, repeatable=False
    )


def battle(battle_id: str) -> Call[BattleView]:
    """Read one battle."""
    return Call(method="GET", path=_path(battle_id), read=reader(BattleView))


def events_path(battle_id: str) -> str:
    """Where the events of a battle are followed."""
    return f"{_path(battle_id)}/events"


def battles(arena: str | None, limit: int, options: BattleOptions) -> Call[list[BattleSummary]]:
    """Read the newest battles, or those that wait most for a vote."""
    params = params_of({"arena": arena, "limit": limit, **options})
    return Call(method="GET", path="/v1/battles", read=reader(list[BattleSummary]), params=params)


def failures(arena: str | None, battle_id: str | None, limit: int) -> Call[list[FailureView]]:
    """Read the stages that gave up."""
    params = params_of({"arena": arena, "battle": battle_id, "limit": limit})
    return Call(method="GET", path="/v1/failures", read=reader(list[FailureView]), params=params)


def admin_failures(options: AdminFailureOptions) -> Call[list[FailureEntry]]:
    """Read what was given up, as administrators see it."""
    params = params_of(options)
    return Call(method="GET", path=_ADMIN, read=reader(list[FailureEntry]), params=params)


def admin_failure(failure_id: str) -> Call[FailureEntry]:
    """Read one failure, as administrators see it."""
    return Call(method="GET", path=f"{_ADMIN}/{quote(failure_id, safe='')}", read=reader(FailureEntry))


def act_on_failure(failure_id: str, action: Literal["retry", "discard"]) -> Call[FailureAction]:
    """Retry or discard one failure; doing it twice is doing it once."""
    path = f"{_ADMIN}/{quote(failure_id, safe='')}/{action}"
    return Call(method="POST", path=path, read=reader(FailureAction))


def model_calls(battle_id: str) -> Call[list[CallView]]:
    """Read the model calls of a battle, as an administrator."""
    return Call(method="GET", path=f"{_path(battle_id)}/calls", read=reader(list[CallView]))


def delete_battle(battle_id: str) -> Call[BattleDeletion]:
    """Delete a battle; doing it twice is doing it once."""
    path = f"/v1/admin/battles/{quote(battle_id)}"
    return Call(method="DELETE", path=path, read=reader(BattleDeletion))


def edit_nuggets(battle_id: str, edit: NuggetEditSubmission | Mapping[str, Any]) -> Call[NuggetEditView]:
    """Edit a nugget list; the same edit sent twice is one edit."""
    body = edit.model_dump_json() if isinstance(edit, NuggetEditSubmission) else json.dumps(edit)
    path = f"{_path(battle_id)}/nuggets"
    return Call(method="PATCH", path=path, read=reader(NuggetEditView), body=body.encode())


def delete_expired(options: ExpiryOptions) -> Call[Expiry]:
    """Delete a batch of old battles; doing it again deletes the next batch."""
    return Call(
        method="POST",
        path="/v1/admin/battles/delete-expired",
        read=reader(Expiry),
        params=params_of(options),
        waiting=60.0,
    )


def leaderboard(arena: str, options: BoardOptions) -> Call[list[BoardView]]:
    """Read the leaderboards."""
    return Call(
        method="GET", path="/v1/leaderboard", read=reader(list[BoardView]), params=_asked(arena, options)
    )


def combined(arena: str, options: CombinedOptions) -> Call[CombinedView]:
    """Read the combined ratings."""
    return Call(
        method="GET",
        path="/v1/leaderboard/combined",
        read=reader(CombinedView),
        params=_asked(arena, options),
    )


def pairs(arena: str, options: PairsOptions) -> Call[PairsView]:
    """Read every pair of systems."""
    return Call(
        method="GET", path="/v1/leaderboard/pairs", read=reader(PairsView), params=_asked(arena, options)
    )


def advice(arena: str, options: AdviceOptions) -> Call[AdviceView]:
    """Read what to ask next."""
    return Call(
        method="GET", path="/v1/leaderboard/advice", read=reader(AdviceView), params=_asked(arena, options)
    )


def timeline(arena: str, options: TimelineOptions) -> Call[TimelineView]:
    """Read the ratings over time."""
    return Call(
        method="GET",
        path="/v1/leaderboard/timeline",
        read=reader(TimelineView),
        params=_asked(arena, options),
    )


def style(arena: str, options: StyleOptions) -> Call[StyleBoardView]:
    """Read the ratings with style held equal."""
    return Call(
        method="GET", path="/v1/leaderboard/style", read=reader(StyleBoardView), params=_asked(arena, options)
    )


def agreement(arena: str, options: AgreementOptions) -> Call[AgreementView]:
    """Read how far the lenses agree."""
    return Call(method="GET", path="/v1/agreement", read=reader(AgreementView), params=_asked(arena, options))


def judge_biases(arena: str) -> Call[list[JudgeBiasView]]:
    """Read what the verdicts of judges depend on beside the answers."""
    return Call(method="GET", path="/v1/biases", read=reader(list[JudgeBiasView]), params=(("arena", arena),))


def canary() -> Call[list[CanaryRunView]]:
    """Read the latest canary battles of the judges."""
    return Call(method="GET", path="/v1/canary", read=reader(list[CanaryRunView]))


def ready() -> Call[Health]:
    """Ask whether the gateway can do its work; the answer is a value, also where it cannot."""
    return Call(method="GET", path="/readyz", read=reader(Health, accepted=(503,)))


def arguments(call: Call[object], timeout: float) -> dict[str, Any]:
    """What `build_request` of either HTTP client takes.

    Args:
        call: The request.
        timeout: Seconds for each step of it, beyond what the platform may wait on purpose.
    """
    given: dict[str, Any] = {
        "method": call.method,
        "url": call.path,
        "params": call.params,
        "timeout": httpx2.Timeout(timeout, read=timeout + call.waiting),
    }
    if call.body is not None:
        given |= {"content": call.body, "headers": {"content-type": call.media_type}}
    return given


def base_url(url: str) -> str:
    """The address of a platform.

    Raises:
        ValueError: It is no web address.

    >>> base_url("127.0.0.1:8080")
    Traceback (most recent call last):
    ValueError: url: '127.0.0.1:8080' should begin with http:// or https:// and name a host
    """
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        parsed = httpx2.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"url: {url!r} should begin with http:// or https:// and name a host")
    return url


def headers_of(key: str | None, headers: Mapping[str, str] | None) -> dict[str, str]:
    """The headers of a client: its key, by default that of the environment, and those that a caller gives."""
    key = key or os.environ.get(KEY_VARIABLE)
    return ({} if not key else {"authorization": f"Bearer {key}"}) | dict(headers or {})


def encoded(battle: Submission) -> bytes:
    """A battle as JSON.

    Raises:
        TypeError: A value that JSON cannot hold.
        ValueError: A number that is not finite.
    """
    if isinstance(battle, BattleSubmission):
        return battle.model_dump_json(exclude_unset=True).encode()
    return json.dumps(dict(battle), ensure_ascii=False, allow_nan=False).encode()


def _asked(arena: str, options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return params_of({"arena": arena, **options})


def _path(battle_id: str) -> str:
    return f"/v1/battles/{quote(battle_id)}"
