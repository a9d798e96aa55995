"""What was received, what was scored, and why the rest was not."""

from typing import Any

from tests.evaluated import battle
from tests.nuggetstream.report.parts import PARTS, built


def test_coverage_counts_each_source_of_preference_on_its_own(read: Any) -> None:
    failure = {"stage": "judge", "reason": "llm_refused"}
    found = PARTS["coverage"].compute(
        read(
            battle("b1"),
            battle("b2", human=None),
            battle("b3", judge=None, failures=[failure]),
            battle("b4", scores=None, language=""),
            battle("b5", a="same", b="same"),
        )
    )
    assert (found.received, found.scored) == (5, 3)
    assert (found.with_vote, found.with_nuggets, found.with_verdict) == (4, 4, 4)
    assert found.reasons == {"judge: llm_refused": 1}
    assert found.languages == {"en": 4, "not given": 1}
    assert found.self_battles == 1
    assert found.systems["same"] == 1


def test_a_detected_language_counts_where_none_is_declared_and_is_named_as_detected(read: Any) -> None:
    detected = {"tag": "de", "confidence": 0.9}
    results = read(
        battle("b1", language="en", detected_language=detected),
        battle("b2", language=None, detected_language=detected),
        battle("b3", language=None),
    )
    found = PARTS["coverage"].compute(results)
    assert (found.languages, found.detected) == ({"en": 1, "de": 1, "not given": 1}, 1)
    assert "detected in 1, not declared" in str(built("coverage", results)[0].blocks)


def test_battles_with_earlier_turns_are_counted_whether_they_are_of_both_systems_or_of_each(
    read: Any,
) -> None:
    turns = [{"role": "user", "text": "Who?"}, {"role": "assistant", "text": "Nobody."}]
    shared, own = battle("b1", conversation=turns), battle("b2")
    for side in ("a", "b"):
        own[side] |= {"conversation": turns}
    results = read(shared, own, battle("b3"))
    assert PARTS["coverage"].compute(results).conversations == 2
    assert "2 battles are the last turn of a conversation." in str(built("coverage", results)[0].blocks)
    assert "conversation" not in str(built("coverage", read(battle("b3")))[0].blocks)
