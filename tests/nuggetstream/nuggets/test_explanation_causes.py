"""Why an answer lacks a nugget: the writing, the search, or nobody knows."""

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.nugget import Cause, Importance, Nugget, Provenance
from nuggetstream.nuggets.explanation import cause_of

CHUNK = Evidence("c1", "text", "https://a", "", "", None, cited_by=(Side.A,), score=1.0)


def nugget(name: str, *documents: str) -> Nugget:
    return Nugget(
        name, f"Fact {name}", Importance.VITAL, tuple(Provenance(document) for document in documents)
    )


@pytest.mark.parametrize(
    ("documents", "side", "cause"),
    [
        (("c1",), Side.A, Cause.GENERATION),
        (("answer:b", "c1"), Side.A, Cause.GENERATION),
        (("c1",), Side.B, Cause.RETRIEVAL),
        (("answer:a", "c1"), Side.B, Cause.RETRIEVAL),
        (("a chunk that was not retrieved",), Side.A, Cause.RETRIEVAL),
        (("answer:b",), Side.A, Cause.UNSOURCED),
        ((), Side.A, None),
    ],
)
def test_the_cause_of_a_miss_follows_from_where_the_nugget_was_read(
    documents: tuple[str, ...], side: Side, cause: Cause | None
) -> None:
    assert cause_of(nugget("1", *documents), side, [CHUNK]) is cause


@pytest.mark.parametrize(
    ("documents", "side", "unread", "cause"),
    [
        (("c1",), Side.A, {Side.A, Side.B}, Cause.GENERATION),
        (("c1",), Side.B, {Side.A}, Cause.RETRIEVAL),
        (("c1",), Side.B, {Side.B}, None),
        (("answer:b",), Side.A, {Side.A}, None),
        (("answer:b",), Side.A, {Side.B}, None),
    ],
)
def test_a_source_that_was_not_read_may_be_the_one(
    documents: tuple[str, ...], side: Side, unread: set[Side], cause: Cause | None
) -> None:
    assert cause_of(nugget("1", *documents), side, [CHUNK], unread) is cause
