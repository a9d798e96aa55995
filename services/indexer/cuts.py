"""Which texts a model read only in part, from the model that cut them to the table of vectors."""

from collections import OrderedDict

from nuggetstream.domain.identity import content_hash

_LIMIT = 10_000  # sentences of other services are cut, too, and nobody asks for them


class Cuts:
    """The shares of texts that were read, for those of which it is less than all.

    Args:
        limit: Maximum number of texts; the oldest are dropped first.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._shares: OrderedDict[str, float] = OrderedDict()

    def note(self, text: str, share: float) -> None:
        """Note that only a share of a text was read, above 0 and below 1."""
        self._shares[content_hash(text)] = share
        if len(self._shares) > self._limit:
            self._shares.popitem(last=False)

    def of(self, text_hash: str) -> float | None:
        """The share that was read of a text; None where all was read, or is too long ago."""
        return self._shares.get(text_hash)
