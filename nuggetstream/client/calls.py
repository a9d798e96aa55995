"""A request of the API as a value: what is sent, and how the reply is read. No I/O."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote

import httpx2

from nuggetstream.files.submission import BattleSubmission

T_co = TypeVar("T_co", covariant=True)
Submission: TypeAlias = BattleSubmission | Mapping[str, Any]
JSON = "application/json"
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


def path_of(battle_id: str) -> str:
    """Where a battle is."""
    return f"/v1/battles/{quote(battle_id)}"


def events_path(battle_id: str) -> str:
    """Where the events of a battle are followed."""
    return f"{path_of(battle_id)}/events"


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
