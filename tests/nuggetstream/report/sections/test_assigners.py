"""The second assigner in the report: kappa and the table of labels, from the labels in the results."""

import json
from typing import Any

from tests.evaluated import battle
from tests.nuggetstream.report.parts import PARTS, built


def labels(*pairs: tuple[str, str]) -> dict[str, Any]:
    grades = [
        {
            "subject": "nugget",
            "sides": ["a"],
            "item": f"n{number}",
            "criterion": criterion,
            "scale": "s",
            "label": label,
        }
        for number, pair in enumerate(pairs)
        for criterion, label in zip(("first_label", "support"), pair, strict=True)
    ]
    return {"evaluator": "second_assigner", "model": "m2", "grades": grades}


def test_kappa_is_over_the_labels_of_all_battles(read: Any) -> None:
    one = labels(("support", "support"), ("not_support", "not_support"), ("support", "partial_support"))
    results = read(
        battle("b1", gradings=[one]), battle("b2", gradings=[labels(("support", "support"))]), battle("b3")
    )
    (found,) = PARTS["assigners"].compute(results)
    assert (found.model, found.battles, found.agreement.labels, found.agreement.agreed) == ("m2", 2, 4, 3)
    content, numbers = built("assigners", results)
    (told,) = json.loads(json.dumps(numbers))  # report.json
    assert told["counts"]["support"] == {
        "support": 2,
        "partial_support": 1,
        "not_support": 0,
        "contradiction": 0,
    }
    assert content.findings[0].startswith("3 of 4 labels are the same (kappa 0.")
    assert content.basis == "2 battles"


def test_without_a_second_assigner_it_says_so(read: Any) -> None:
    content, _ = built("assigners", read(battle("b1")))
    assert not content.is_shown
