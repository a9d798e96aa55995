"""The pages behind the answers."""

from typing import Any

from nuggetstream.report.numbers.sources import compute_sources
from tests.evaluated import battle


def test_pages_are_counted_by_what_became_of_them(read: Any) -> None:
    pages = [
        {"state": "fetched", "quality": "ok", "chunks": 2, "partly_read": 1},
        {"state": "rejected", "quality": "cookie_wall"},
        {"state": "pending"},
    ]
    side = {"system": "left", "text": "", "sources": pages}
    left, right = compute_sources(read(battle("b1") | {"a": side}))
    assert left.qualities == {"ok": 1, "cookie_wall": 1, "pending": 1}
    assert (left.pages, left.used, left.partly_read, left.without) == (3, 1, 1, 0)
    assert (right.pages, right.without) == (0, 1)
