"""The failure of a model call, for all that decide what follows from it."""

from services.runtime.errors import StageError
from services.runtime.llm.cause import Cause
from services.runtime.llm.prices import Tokens


class CallFailed(Exception):
    """A call that returned nothing that can be used.

    Attributes:
        error: The error to raise when the call is not retried.
        cause: Why the model did not answer; None when it did, and its answer is about the content.
        retryable: Whether the same call may succeed shortly.
        overloaded: Whether the endpoint is overloaded.
        charged: Tokens that the server may charge nevertheless; None when it charges nothing.
        retry_after: Seconds that the server asked us to wait.
        status: HTTP status of an error response; None where there was no such response.
    """

    def __init__(
        self,
        error: StageError,
        *,
        cause: Cause | None = None,
        retryable: bool = False,
        overloaded: bool = False,
        charged: Tokens | None = None,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(error.detail)
        self.error, self.cause = error, cause
        self.retryable, self.overloaded = retryable, overloaded
        self.charged, self.retry_after, self.status = charged, retry_after, status
