"""Why the gateway says no, whatever door was knocked at.

    Rejected
    ├── Conflict         another battle already has this id          409  ALREADY_EXISTS
    ├── UnknownBattle    no battle has this id                       404  NOT_FOUND
    ├── TooLarge         the body is longer than it may be           413
    ├── UnknownFormat    the body is not declared as what is read    415
    └── InvalidQuery  what is asked for does not exist            422

Invalid battles are `wire.submission.InvalidSubmission` (422, INVALID_ARGUMENT); a broker, database or
rater that does not answer is `runtime.errors.Unavailable` (503, UNAVAILABLE).
"""

from collections.abc import Iterable, Mapping
from typing import Any


class Rejected(Exception):
    """The request cannot be met; the message says why to a person."""


class Conflict(Rejected):
    """The id belongs to a battle with other content."""

    def __init__(self, battle_id: str) -> None:
        super().__init__(f"battle {battle_id!r} was received before with different content")
        self.battle_id = battle_id


class UnknownBattle(Rejected):
    """No battle with this id was received."""

    def __init__(self, battle_id: str) -> None:
        super().__init__(f"no battle {battle_id!r} was received")
        self.battle_id = battle_id


class TooLarge(Rejected):
    """A body, or one line of it, is over the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"at most {limit:,} bytes are accepted")


class UnknownFormat(Rejected):
    """The body is declared as something that is not read here."""

    def __init__(self, accepted: str, declared: str) -> None:
        super().__init__(f"send {accepted}, not {declared}")


class InvalidQuery(Rejected):
    """What is asked for does not exist; says which field and why, one problem per line."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))


def problems_in(details: Iterable[Mapping[str, Any]]) -> list[str]:
    """What a model found wrong, one line per field.

    Args:
        details: of a pydantic error; places begin at the field.

    >>> problems_in([{"loc": ("tag", 0), "msg": "Value error, is empty"}, {"loc": (), "msg": "no JSON"}])
    ['tag.0: is empty', 'no JSON']
    """
    said = ((".".join(map(str, d["loc"])), d["msg"].removeprefix("Value error, ")) for d in details)
    return [f"{where}: {what}" if where else what for where, what in said]
