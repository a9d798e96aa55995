"""The audit of the judge: flips, position, length and its own model."""

from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.report.blocks import Notice
from nuggetstream.report.summary import predict
from nuggetstream.report.terminal import systems_table
from tests.evaluated import battle, judgment, summarise
from tests.nuggetstream.report.parts import PARTS


def test_the_audit_tells_flips_position_and_length(read: Any) -> None:
    (found,) = PARTS["judge"].compute(
        read(
            battle("b1"),  # A is longer
            battle("b2", judgments=[judgment("tie", flipped=True)], human="b"),
            battle("b3", judgments=[judgment("b", flipped=None)], human=None),
            battle("b4", judge=None),
        )
    )
    assert (found.judged, found.received) == (3, 4)
    assert (found.flipped.count, found.flipped.of) == (1, 2)
    assert (found.tied.count, found.tied.of) == (1, 3)
    assert (found.first_shown.count, found.first_shown.of) == (4, 6)
    assert (found.longer.count, found.longer.of) == (1, 2)
    assert (found.people_longer.count, found.people_longer.of) == (1, 2)
    assert (found.twice_as_long.count, found.twice_as_long.of) == (1, 2)
    assert found.own is None


def test_an_answer_at_least_twice_as_long_is_counted_apart(read: Any) -> None:
    nearly = battle("b1") | {"a": {"system": "left", "text": "Twice a da.", "sources": []}}
    (found,) = PARTS["judge"].compute(read(nearly, battle("b2")))
    assert (found.longer.of, found.twice_as_long.of) == (2, 1)


def test_systems_of_the_judges_family_are_its_own(read: Any) -> None:
    judged = [judgment("a", model="gpt-5-mini")]
    (found,) = PARTS["judge"].compute(
        read(
            battle("b1", a="openai/gpt-4o", b="atlas", human="b", judgments=judged),
            battle("b2", a="gpt-5", b="o3", human="a", judgments=judged),
        )
    )
    assert found.own is not None
    assert (found.own.by_judge.count, found.own.by_judge.of) == (1, 1)
    assert (found.own.by_people.count, found.own.by_people.of) == (0, 1)


def test_self_preference_compares_the_judge_with_people_over_the_same_battles(read: Any) -> None:
    judged = [judgment("b", model="right")]
    (found,) = PARTS["judge"].compute(
        read(
            battle("b1", human="a", judgments=judged),
            battle("b2", human="b", judgments=judged),
            battle("b3", human=None, judgments=judged),
            battle("b4", a="x", b="y", judgments=judged),
        )
    )
    assert found.own is not None
    assert (found.own.by_judge.count, found.own.by_judge.of) == (2, 2)
    assert (found.own.by_people.count, found.own.by_people.of) == (1, 2)


def test_with_several_judges_the_report_says_which_one_it_shows(read: Any) -> None:
    both = [judgment("a", evaluator="added", additional=True), judgment("b", evaluator="strict")]
    results = read(battle("b1", human="b", judgments=both), battle("b2", human="b", judgments=both[:1]))
    audits = PARTS["judge"].compute(results)
    assert [audit.evaluator for audit in audits] == ["strict", "added"]
    notices = [block.text for block in PARTS["judge"].draw(audits).blocks if isinstance(block, Notice)]
    assert any(text.startswith("Where other sections show one judge, it is strict;") for text in notices)
    assert [row.vote(Lens.JUDGE) for row in results.battles] == [Vote.B, Vote.A]

    predicted = predict(results.battles)
    assert {name: votes for name, votes in predicted.items() if name.startswith("judge")} == {
        "judge strict": (Vote.B, None),
        "judge added": (Vote.A, Vote.A),
    }
    summary = summarise(results.battles, rejected=0)
    assert [(judge.evaluator, judge.judged) for judge in summary.judges] == [("strict", 1), ("added", 2)]
    assert [row.predictor for row in summary.agreements if row.predictor.startswith("judge")] == [
        "judge strict",
        "judge added",
    ]
    assert systems_table(summary).caption == "Judge: strict; where it gave no verdict, added."


def test_a_single_judge_is_not_named_beside_every_number(read: Any) -> None:
    results = read(battle("b1"), battle("b2"))
    notices = [
        block.text
        for block in PARTS["judge"].draw(PARTS["judge"].compute(results)).blocks
        if isinstance(block, Notice)
    ]
    assert not any("other sections" in text for text in notices)
    assert systems_table(summarise(results.battles, rejected=0)).caption is None
    assert "judge" in predict(results.battles)
