"""The errors that name the option which a caller gave."""

from collections.abc import Iterator
from contextlib import contextmanager

from nuggetstream.ratings.options import InvalidOption
from services.runtime.errors import InvalidInput


class InvalidQuestion(InvalidInput):
    """What was asked for does not exist; names the field and the reason."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


@contextmanager
def naming_the_field(where: str | None = None) -> Iterator[None]:
    """Turn an option that a query or the rating model rejects into an error of the caller.

    Args:
        where: Which board it is about, such as "on the human board".

    Raises:
        InvalidQuestion: The option was rejected.
    """
    try:
        yield
    except InvalidOption as error:
        why = error.why if where is None else f"{where} {error.why}"
        raise InvalidQuestion(error.field, why) from error
