"""Missed nuggets by cause."""

from typing import Any

from nuggetstream.report.sections.misses import SECTION
from tests.evaluated import battle, nugget


def test_misses_are_blamed_by_cause(read: Any) -> None:
    nuggets = [nugget(), nugget("2", cause="retrieval"), nugget("3", cause=None), nugget("4", b="support")]
    rows = SECTION.compute(read(battle("b1", nuggets=nuggets))).rows
    found = next(row for row in rows if (row.system, row.which) == ("right", "all nuggets"))
    assert (found.missed, found.labelled) == (3, 4)
    assert found.causes == {"generation": 1, "retrieval": 1, "unsourced": 0, "cause not known": 1}


def test_nobody_misses_a_claim_that_no_source_confirms(read: Any) -> None:
    claims = [
        nugget(str(n), cause=None) | {"grounding": kind} for n, kind in enumerate(("answer-only", "disputed"))
    ]
    nuggets = [nugget() | {"grounding": "grounded"}, *claims]
    rows = SECTION.compute(read(battle("b1", nuggets=nuggets))).rows
    found = next(row for row in rows if (row.system, row.which) == ("right", "all nuggets"))
    assert (found.labelled, found.claims, found.missed) == (3, 2, 1)
    assert found.causes == {"generation": 1, "retrieval": 0, "unsourced": 0, "cause not known": 0}
