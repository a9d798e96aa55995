"""Errors of the gateway that are the client's to fix, and their statuses over HTTP and gRPC.

    Rejected
    ├── Conflict       another battle already has this id         409  ALREADY_EXISTS
    ├── Unknown        nothing of this kind has this id           404
    │   └── UnknownBattle                                              NOT_FOUND
    ├── StillRunning   the battle has not ended                   409
    ├── NothingToEdit  the battle has no nugget list              409
    ├── OutdatedVersion the list was edited since                 409
    ├── Irretrievable  a dead letter's message is gone            409
    ├── Forbidden      only administrators may do this            403
    ├── TooFast        too many actions per second                429
    ├── TooLarge       the body is over the limit                 413
    ├── UnknownFormat  the content type or encoding is unknown    415
    └── InvalidQuery   a parameter is not valid                   422  INVALID_ARGUMENT

Invalid battles are `nuggetstream.files.submission.InvalidSubmission` (422, INVALID_ARGUMENT). A broker,
database or rater that does not answer is `services.runtime.errors.Unavailable` (503, UNAVAILABLE).
"""

from collections.abc import Iterable


class Rejected(Exception):
    """The request cannot be met; the message tells a person why."""


class Conflict(Rejected):
    """The id belongs to a battle with other content."""

    def __init__(self, battle_id: str) -> None:
        super().__init__(f"battle {battle_id!r} was received before with different content")


class Unknown(Rejected):
    """There is nothing of a kind with this id, such as no webhook."""

    def __init__(self, kind: str, its_id: str) -> None:
        super().__init__(f"there is no {kind} {its_id!r}")


class UnknownBattle(Unknown):
    """No battle with this id was received."""

    def __init__(self, battle_id: str) -> None:
        super().__init__("battle", battle_id)


class StillRunning(Rejected):
    """A battle cannot be deleted or edited before it has ended."""

    def __init__(self, battle_id: str, action: str = "delete it") -> None:
        super().__init__(f"battle {battle_id!r} is still running; {action} when it has ended")


class NothingToEdit(Rejected):
    """A battle has no nugget list that could be edited."""

    def __init__(self, battle_id: str) -> None:
        super().__init__(f"battle {battle_id!r} has no nugget list")


class OutdatedVersion(Rejected):
    """An edit is based on a version of the nugget list that is not the newest."""

    def __init__(self, battle_id: str, given: int, newest: int) -> None:
        super().__init__(
            f"the nugget list of battle {battle_id!r} has version {newest}, and the edit is based on version "
            f"{given}; read the battle again"
        )


class Irretrievable(Rejected):
    """The message of a dead letter can no longer be read."""

    def __init__(self, message_id: str, stream: str) -> None:
        super().__init__(
            f"message {message_id!r} is no longer in the stream {stream}, so it cannot be retried"
        )


class Forbidden(Rejected):
    """The request needs the rights of an administrator."""


class TooFast(Rejected):
    """There were too many actions within a second."""

    def __init__(self, per_second: int) -> None:
        super().__init__(f"at most {per_second} failures per second are retried or discarded")


class TooLarge(Rejected):
    """A body, or one line of it, is over the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"at most {limit:,} bytes are accepted")


class UnknownFormat(Rejected):
    """The content type or content encoding of a body is not supported."""

    def __init__(self, accepted: str, declared: str) -> None:
        super().__init__(f"send {accepted}, not {declared}")


class InvalidQuery(Rejected):
    """Parameters that are not valid; each problem names its field and says why."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))
