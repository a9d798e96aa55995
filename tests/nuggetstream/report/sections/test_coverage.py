"""What was received, what was scored, and why the rest was not."""

from typing import Any

from nuggetstream.report.sections.coverage import SECTION
from tests.evaluated import battle


def test_coverage_counts_each_source_of_preference_on_its_own(read: Any) -> None:
    failure = {"stage": "judge", "reason": "llm_refused"}
    found = SECTION.compute(
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
