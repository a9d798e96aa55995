"""Why a model does not answer. Services without a model's client read it, too."""

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """Why an endpoint gave no answer of the model."""

    UNREACHABLE = "unreachable"  # no connection, no such host
    TIMEOUT = "timeout"
    OVERLOADED = "overloaded"  # 429, 503, 529
    SERVER = "server"  # another server error, or a response that is no completion
    KEY = "key"  # 401 or 403: the key is wrong or may not use the model
    QUOTA = "quota"  # 402 or an exhausted quota
    MODEL = "model"  # 404: no such model, or no such path

    @property
    def words(self) -> str:
        """The cause for everybody, without anything that the endpoint said.

        >>> Cause.KEY.words
        'its endpoint rejects the API key'
        """
        return _WORDS[self]


_WORDS = {
    Cause.UNREACHABLE: "its endpoint cannot be reached",
    Cause.TIMEOUT: "its endpoint does not answer in time",
    Cause.OVERLOADED: "its endpoint is overloaded",
    Cause.SERVER: "its endpoint reports an error",
    Cause.KEY: "its endpoint rejects the API key",
    Cause.QUOTA: "the quota at the provider is used up",
    Cause.MODEL: "its endpoint does not have the model",
}


@dataclass(frozen=True, slots=True)
class FirstAway:
    """The first endpoint is away.

    Attributes:
        cause: Why.
        since: Unix time since when.
        fallback_answers: Whether the fallback is asked and answers; None where there is no fallback.
    """

    cause: Cause
    since: float
    fallback_answers: bool | None = None
