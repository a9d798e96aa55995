"""A judge's probabilities against what people prefer."""

from typing import Any

import pytest

from tests.evaluated import battle, judgment
from tests.nuggetstream.report.parts import PARTS


def told(name: str, human: str | None, a: float, b: float, tie: float = 0.0, **more: Any) -> dict[str, Any]:
    shares = {"a": a, "b": b, "tie": tie}
    return battle(name, human=human, judgments=[judgment("a", probabilities=shares, **more)])


def test_probabilities_are_compared_where_people_have_a_preference(read: Any) -> None:
    [found] = PARTS["calibration"].compute(
        read(
            told("b1", "a", 0.9, 0.1),
            told("b2", "both_bad", 0.1, 0.2, 0.7),
            told("b3", "b", 0.8, 0.2),
            told("b4", None, 0.9, 0.1),
            battle("b5", human="a"),
        )
    )
    assert (found.told, found.judged, found.calibration.cases) == (4, 5, 3)
    assert (found.calibration.right.count, found.calibration.right.of) == (2, 3)
    assert found.calibration.error == pytest.approx((0.1 + 0.3 + 0.8) / 3)


def test_judges_are_told_apart_and_one_without_probabilities_is_left_out(read: Any) -> None:
    found = PARTS["calibration"].compute(
        read(told("b1", "a", 0.9, 0.1), told("b2", "a", 0.6, 0.4, evaluator="strict"), battle("b3"))
    )
    assert [(each.evaluator, each.told, each.judged) for each in found] == [
        ("pairwise", 1, 2),
        ("strict", 1, 1),
    ]


def test_the_section_shows_a_plot_with_numbers_in_words(read: Any) -> None:
    content = PARTS["calibration"].draw(
        PARTS["calibration"].compute(read(told("b1", "a", 0.9, 0.1), told("b2", "b", 0.9, 0.1)))
    )
    [figure] = next(iter(content.blocks[0].options.values()))
    assert figure.alt.startswith("90% sure, right in 50.0% (1 of 2)")
    assert "calibration error is 40.0%" in content.findings[0]
    assert content.basis == "pairwise 2 of 2 verdicts"


def test_the_tie_band_is_chosen_by_people(read: Any) -> None:
    leads = [(place - 10) / 10 for place in range(21)]
    people = ["tie" if abs(lead) < 0.35 else "a" if lead > 0 else "b" for lead in leads]
    rows = [
        told(f"b{place}", human, (1 + lead) / 2, (1 - lead) / 2)
        for place, (lead, human) in enumerate(zip(leads, people, strict=True))
    ]
    [found] = PARTS["calibration"].compute(read(*rows))
    assert found.band is not None
    assert found.band.band == pytest.approx(0.3)
    table = PARTS["calibration"].draw([found]).blocks[-1]
    assert table.caption == "Tie band per judge"
    assert table.rows[0][3].startswith("0.30")


def test_the_nuggets_are_a_scorer_with_the_probabilities_of_their_labels(read: Any) -> None:
    def labelled(name: str, human: str, support: float) -> dict[str, Any]:
        """A battle whose only nugget A states with so much probability, and B does not state."""
        shares = {"support": support, "partial_support": 0.0, "not_support": 1 - support}
        none = {"support": 0.0, "partial_support": 0.0, "not_support": 1.0}
        row = battle(name, human=human, scores=(1.0, 0.0), label_model="labeller")
        row["nuggets"][0]["a"] |= {"probabilities": shares}
        row["nuggets"][0]["b"] |= {"probabilities": none}
        return row

    [found] = PARTS["calibration"].compute(
        read(labelled("b1", "a", 0.9), labelled("b2", "tie", 0.7), battle("b3"))
    )
    assert (found.evaluator, found.model, found.told) == ("nuggets", "labeller", 2)
    assert (found.calibration.right.count, found.calibration.right.of) == (1, 2)
    assert found.calibration.confidence == pytest.approx(0.8)
    assert found.calibration.error == pytest.approx((0.1 + 0.7) / 2)
    assert found.band is None


def test_guided_judges_and_members_of_panels_are_scorers_of_their_own(read: Any) -> None:
    shares = {"a": 0.9, "b": 0.1, "tie": 0.0}
    members = [
        {"name": "x", "model": "m1", "winner": "a", "probabilities": shares},
        {"name": "y", "model": "m2", "winner": None, "abstention": "llm_refused"},
        {"name": "z", "model": "m3", "winner": "a"},
    ]
    panel = judgment("a", None, verdicts=[], model="m1, m2, m3", members=members, probabilities=shares)
    guided = judgment("a", evaluator="nugget_guided", model="m", probabilities=shares)
    found = PARTS["calibration"].compute(read(battle("b1", judgments=[panel], guided=[guided])))
    assert [(each.evaluator, each.model) for each in found] == [
        ("pairwise", "m1, m2, m3"),
        ("pairwise/x", "m1"),
        ("nugget_guided (shown the nuggets)", "m"),
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([battle("b1")], "no judge and no label has probabilities"),
        ([told("b1", None, 0.9, 0.1), battle("b2", judge=None)], "both a human preference and probabilities"),
    ],
)
def test_without_anything_to_compare_the_section_says_why(
    read: Any, rows: list[dict[str, Any]], said: str
) -> None:
    content = PARTS["calibration"].draw(PARTS["calibration"].compute(read(*rows)))
    assert said in content.blocks[0].why
    assert content.findings == ()
