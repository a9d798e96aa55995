"""Missed nuggets by cause."""

from typing import Any

from tests.evaluated import battle, nugget
from tests.nuggetstream.report.parts import PARTS


def test_misses_are_blamed_by_cause(read: Any) -> None:
    nuggets = [nugget(), nugget("2", cause="retrieval"), nugget("3", cause=None), nugget("4", b="support")]
    rows = PARTS["misses"].compute(read(battle("b1", nuggets=nuggets))).rows
    found = next(row for row in rows if (row.system, row.which) == ("right", "all nuggets"))
    assert (found.missed, found.labelled) == (3, 4)
    assert found.causes == {"generation": 1, "retrieval": 1, "unsourced": 0, "cause not known": 1}


def test_nobody_misses_a_claim_that_no_source_confirms(read: Any) -> None:
    claims = [
        nugget(str(n), cause=None) | {"grounding": kind} for n, kind in enumerate(("answer-only", "disputed"))
    ]
    nuggets = [nugget() | {"grounding": "grounded"}, *claims]
    rows = PARTS["misses"].compute(read(battle("b1", nuggets=nuggets))).rows
    found = next(row for row in rows if (row.system, row.which) == ("right", "all nuggets"))
    assert (found.labelled, found.claims, found.missed) == (3, 2, 1)
    assert (found.facts, found.rate) == (1, 1.0)
    assert found.causes == {"generation": 1, "retrieval": 0, "unsourced": 0, "cause not known": 0}


def test_claims_are_in_no_share_and_do_not_change_the_order_of_systems(read: Any) -> None:
    stated, missed = nugget("1", b="support"), nugget("2")
    claims = [nugget(f"c{n}", cause=None) | {"grounding": "answer-only"} for n in range(6)]
    results = read(
        battle("b1", "first", "many claims", nuggets=[stated, missed, *claims]),
        battle("b2", "second", "few misses", nuggets=[stated, nugget("3", b="support"), missed]),
    )
    rows = [row for row in PARTS["misses"].compute(results).rows if row.which == "all nuggets"]
    assert [(row.system, row.rate) for row in rows] == [
        ("many claims", 1 / 2),
        ("few misses", 1 / 3),
        ("first", 0.0),
        ("second", 0.0),
    ]
    drawn = PARTS["misses"].draw(PARTS["misses"].compute(results))
    assert drawn.findings == ()  # it rests on grounded nuggets alone, which agree with people by chance
    assert "no better than chance" in drawn.reading


def test_a_system_with_labels_of_claims_alone_has_no_rate(read: Any) -> None:
    claim = nugget(cause=None) | {"grounding": "disputed"}
    found = PARTS["misses"].compute(read(battle("b1", nuggets=[claim])))
    assert [row.rate for row in found.rows] == [None] * 4
    assert "all labelled nuggets are claims" in str(PARTS["misses"].draw(found).blocks)
