"""JSON that would hold the interpreter for seconds is rejected before it is parsed."""

import json
from typing import Any

import pytest

from nuggetstream.files.json_bounds import MAX_STRINGS, TooManyValues, check_bounds
from nuggetstream.files.sources import MAX_SOURCE_BYTES
from nuggetstream.files.submission import (
    MAX_ANSWER_BYTES,
    MAX_SOURCES,
    MAX_TAGS,
    InvalidSubmission,
    parse_submission_json,
)

HEAD = b'{"query": "q", "a": {"system": "x", "text": "t"}, "b": {"system": "y", "text": "u"}'
MANY = 100_000


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        (b"," + b",".join(b'"k%d": 1' % n for n in range(MANY)), "names and texts"),
        (b"," + b",".join(b'"k%d\\\\"  : 1' % n for n in range(MANY)), "names and texts"),
        (b', "tags": [' + b",".join(b'""' for _ in range(MANY)) + b"]", "names and texts"),
        (b', "tags": [' + b"1," * 3 * MANY + b"1]", "bytes outside of texts"),
        (b', "x": ' + b"[]," * MANY + b"[]", "bytes outside of texts"),
        (b', "x": ' + b" " * 3 * MANY + b"1", "bytes outside of texts"),
    ],
    ids=["unknown names", "names that end in a backslash", "empty texts", "numbers", "lists", "spaces"],
)
def test_many_small_values_are_rejected_in_one_sentence(rest: bytes, problem: str) -> None:
    with pytest.raises(InvalidSubmission, match=problem) as raised:
        parse_submission_json(HEAD + rest + b"}")
    assert len(raised.value.problems) == 1


def test_the_largest_valid_battle_is_within_the_bounds() -> None:
    def answer(system: str) -> dict[str, Any]:
        quoting = '"\\", ' * (MAX_SOURCE_BYTES // 50 // 5)  # quotation marks and backslashes are escaped
        sources = [{"url": f"https://{system}.example/{n}", "title": "T", "text": quoting} for n in range(3)]
        empty = [{"url": f"u{n}", "title": "", "text": ""} for n in range(MAX_SOURCES - 3)]
        return {"system": system, "text": "x" * MAX_ANSWER_BYTES, "sources": sources + empty}

    tags = [f"tag:{n}" for n in range(MAX_TAGS)]
    battle = {"query": "q", "a": answer("x"), "b": answer("y"), "tags": tags}
    for layout in (None, 8):
        assert parse_submission_json(json.dumps(battle, indent=layout)).tags == tuple(tags)


def test_small_bodies_are_not_counted() -> None:
    check_bounds(b'""' * 30_000)
    with pytest.raises(TooManyValues, match=f"holds 40,000 names and texts; at most {MAX_STRINGS:,}"):
        check_bounds(b'""' * 40_000)
