"""Panels in the report: verdicts, abstentions, flips and agreement of each member."""

from typing import Any

from nuggetstream.report.sections import judge
from nuggetstream.report.sections.panels import SECTION
from tests.evaluated import battle, judgment


def member(name: str, winner: str | None, flipped: bool | None = False, **more: Any) -> dict[str, Any]:
    return {"name": name, "model": name, "winner": winner, "flipped": flipped, "verdicts": []} | more


def panel(winner: str, *members: dict[str, Any]) -> dict[str, Any]:
    return judgment(winner, None, members=list(members), verdicts=[], aggregation="majority")


def test_every_member_is_counted_with_its_abstentions(read: Any) -> None:
    refused = member("y", None, None, abstention="llm_refused")
    results = read(
        battle("b1", judgments=[panel("a", member("x", "a"), member("y", "tie", True), member("z", "a"))]),
        battle("b2", judgments=[panel("b", member("x", "a"), refused, member("z", "b"))]),
        battle("b3"),
    )
    x, y, z = SECTION.compute(results)
    assert [audit.member for audit in (x, y, z)] == ["x", "y", "z"]
    assert (x.verdicts.count, x.agrees.count, x.agrees.of, x.abstentions) == (2, 1, 2, {})
    assert (y.verdicts.count, y.verdicts.of, y.abstentions) == (1, 2, {"llm_refused": 1})
    assert (y.flipped.count, y.flipped.of, y.agrees.count) == (1, 1, 0)
    content, _ = SECTION.build(results)
    assert content.finding == "1 abstention of members of panels."
    assert "llm_refused 1" in str(content.blocks)


def test_without_a_panel_it_says_so(read: Any) -> None:
    content, numbers = SECTION.build(read(battle("b1")))
    assert numbers == []
    assert "No judge of these battles is a panel." in str(content.blocks)


def test_a_judge_that_was_shown_the_nuggets_is_audited_under_that_name(read: Any) -> None:
    guided = judgment("b", evaluator="nugget_guided")
    results = read(battle("b1", guided=[guided]), battle("b2", judge=None, guided=[guided]))
    audits = judge.SECTION.compute(results)
    assert [(audit.evaluator, audit.judged) for audit in audits] == [
        ("pairwise", 1),
        ("nugget_guided (shown the nuggets)", 2),
    ]
