"""Every simulated fault of a reply is one that the platform does not accept."""

import json

import pytest

from services.offline.damage import damaged
from services.offline.faults import Fault

LABELS = json.dumps({"labels": ["n1 s 1", "n2 n"]})


@pytest.mark.parametrize("fault", [None, Fault.RATE_LIMITED, Fault.DROPPED])
def test_faults_of_the_connection_leave_the_reply_as_it_is(fault: Fault | None) -> None:
    assert damaged(LABELS, fault) == (LABELS, "stop", None)


def test_a_label_that_does_not_exist_keeps_its_id() -> None:
    assert json.loads(damaged(LABELS, Fault.UNKNOWN_LABEL)[0]) == {"labels": ["n1 zebra", "n2 n"]}


@pytest.mark.parametrize("fault", [Fault.WRONG_COUNT, Fault.UNKNOWN_LABEL])
def test_a_reply_without_labels_loses_a_field(fault: Fault) -> None:
    verdict = json.dumps({"reasoning": "It is longer.", "winner": "first"})
    assert json.loads(damaged(verdict, fault)[0]) == {"reasoning": "It is longer."}
    assert json.loads(damaged(json.dumps({"nuggets": ["v a: Tides."]}), fault)[0]) == {}


def test_what_finishes_early_says_why() -> None:
    assert [damaged(LABELS, fault)[1] for fault in (Fault.CUT, Fault.CONTENT_FILTER)] == [
        "length",
        "content_filter",
    ]
    assert damaged(LABELS, Fault.REFUSAL) == ("", "stop", "I cannot help with that.")
    assert damaged(LABELS, Fault.EMPTY) == ("", "stop", None)
