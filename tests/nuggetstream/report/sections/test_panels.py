"""Panels in the report: abstentions, flips, agreement of the members, and alpha per criterion."""

from typing import Any

import pytest

from tests.evaluated import battle, judgment
from tests.nuggetstream.report.parts import PARTS, built


def grade(value: float | None, criterion: str = "relevance", label: str | None = None) -> dict[str, Any]:
    of_answer = {"subject": "answer", "sides": ["a"], "scale": "0-2"}
    return of_answer | {"criterion": criterion, "value": value, "label": label}


def member(name: str, *given: dict[str, Any], abstention: str | None = None) -> dict[str, Any]:
    return {"name": name, "model": f"{name}-1", "grades": list(given), "abstention": abstention}


def panel(*members: dict[str, Any], together: list[dict[str, Any]]) -> dict[str, Any]:
    names = ", ".join(each["name"] for each in members)
    said = {"evaluator": "quality", "model": names, "grades": together, "members": list(members)}
    return {"gradings": [said | {"aggregation": "median"}]}


def three_battles(read: Any) -> Any:
    silent = member("z", abstention="llm_refused")
    return read(
        battle("b1", **panel(member("x", grade(0)), member("y", grade(0)), silent, together=[grade(0)])),
        battle("b2", **panel(member("x", grade(2)), member("y", grade(1)), silent, together=[grade(1)])),
        battle("b3", **panel(member("x", grade(2)), member("y"), silent, together=[])),
        battle("b4", gradings=[{"evaluator": "alone", "model": "m", "grades": [grade(1)]}]),
    )


def test_members_are_counted_with_their_abstentions_and_compared_with_the_panel(read: Any) -> None:
    found = PARTS["panels"].compute(three_battles(read))
    x, y, z = found.members
    assert [(m.panel, m.member) for m in found.members] == [("quality", name) for name in "xyz"]
    assert (x.answered.count, x.answered.of, x.abstentions) == (3, 3, {})
    assert (x.agrees.count, x.agrees.of) == (1, 2)  # of the third battle the panel has no grade
    assert (y.agrees.count, y.agrees.of) == (2, 2)
    assert (z.answered.count, z.answered.of, z.abstentions) == (0, 3, {"llm_refused": 3})
    assert (z.agrees.value, z.agrees.of) == (None, 0)


def test_alpha_is_over_what_several_members_graded(read: Any) -> None:
    (found,) = PARTS["panels"].compute(three_battles(read)).criteria
    assert (found.criterion, found.subjects, found.ungraded) == ("relevance", 2, 1)
    # By hand for (0, 0) and (2, 1): 1 - observed / expected ordinal disagreement = 1 - 0.5 / 3.
    assert found.alpha == pytest.approx(5 / 6)


def test_words_have_a_nominal_alpha(read: Any) -> None:
    words = [(grade(None, "class", "x"), grade(None, "class", "x")), (grade(None, "class", "y"),) * 2]
    results = read(
        *(
            battle(f"b{number}", **panel(member("x", one), member("y", two), together=[one]))
            for number, (one, two) in enumerate(words)
        )
    )
    (found,) = PARTS["panels"].compute(results).criteria
    assert found.alpha == pytest.approx(1.0)


def test_the_section_shows_both_tables_and_says_where_there_is_no_panel(read: Any) -> None:
    content, numbers = built("panels", three_battles(read))
    assert content.findings == ("3 abstentions of members of panels.",)
    of_members, of_criteria = content.blocks
    assert "llm_refused 3" in str(of_members)
    assert of_criteria.rows[0][:3] == ("relevance (0-2)", "2", "1")
    assert [each["member"] for each in numbers["members"]] == ["x", "y", "z"]
    nothing, _ = built("panels", read(battle("b1")))
    assert not nothing.is_shown


def test_means_are_those_of_the_panel_and_beside_it_of_each_member(read: Any) -> None:
    results = three_battles(read)
    found = [g for g in PARTS["grades"].compute(results) if g.evaluator == "quality"]
    assert {g.member: (g.mean, g.graded, g.missing, g.failed) for g in found} == {
        None: (0.5, 2, 2, 0),
        "x": (pytest.approx(4 / 3), 3, 1, 0),
        "y": (0.5, 2, 2, 0),
    }
    content, _ = built("grades", results)
    captions = [table.caption for table in content.blocks]
    assert captions == [
        "alone, m",
        "quality, panel of x, y, z",
        "quality, member x: x-1",
        "quality, member y: y-1",
    ]
    assert content.basis == "2 evaluators"


def test_labels_of_each_member_of_a_second_assigner_are_compared_with_the_first(read: Any) -> None:
    def labels(second: str) -> list[dict[str, Any]]:
        about = {"subject": "nugget", "sides": ["a"], "item": "n1", "scale": "s", "value": 0}
        return [
            about | {"criterion": "first_label", "label": "support"},
            about | {"criterion": "support", "label": second},
        ]

    members = [member("x", *labels("support")), member("y", *labels("not_support"))]
    found = PARTS["assigners"].compute(read(battle("b1", **panel(*members, together=labels("not_support")))))
    assert {each.evaluator: each.agreement.agreed for each in found} == {
        "quality": 0,
        "quality/x": 1,
        "quality/y": 0,
    }


def voting(name: str, winner: str | None, flipped: bool | None = False, **more: Any) -> dict[str, Any]:
    return {"name": name, "model": name, "winner": winner, "flipped": flipped, "verdicts": []} | more


def judging(winner: str, *members: dict[str, Any]) -> dict[str, Any]:
    return judgment(winner, None, members=list(members), verdicts=[], aggregation="majority")


def test_every_member_is_counted_with_its_abstentions(read: Any) -> None:
    refused = voting("y", None, None, abstention="llm_refused")
    results = read(
        battle("b1", judgments=[judging("a", voting("x", "a"), voting("y", "tie", True), voting("z", "a"))]),
        battle("b2", judgments=[judging("b", voting("x", "a"), refused, voting("z", "b"))]),
        battle("b3"),
    )
    x, y, z = PARTS["panels"].compute(results).members
    assert [audit.member for audit in (x, y, z)] == ["x", "y", "z"]
    assert (x.answered.count, x.agrees.count, x.agrees.of, x.abstentions) == (2, 1, 2, {})
    assert (y.answered.count, y.answered.of, y.abstentions) == (1, 2, {"llm_refused": 1})
    assert (y.flipped.count, y.flipped.of, y.agrees.count) == (1, 1, 0)
    content, _ = built("panels", results)
    assert content.findings == ("1 abstention of members of panels.",)
    assert "llm_refused 1" in str(content.blocks)


def test_a_judge_that_was_shown_the_nuggets_is_audited_under_that_name(read: Any) -> None:
    guided = judgment("b", evaluator="nugget_guided")
    results = read(battle("b1", guided=[guided]), battle("b2", judge=None, guided=[guided]))
    audits = PARTS["judge"].compute(results)
    assert [(audit.evaluator, audit.judged) for audit in audits] == [
        ("pairwise", 1),
        ("nugget_guided (shown the nuggets)", 2),
    ]
