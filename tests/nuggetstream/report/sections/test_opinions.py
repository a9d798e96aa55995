"""Several judges and nugget lists: what each says, and which of them leads."""

from typing import Any

from nuggetstream.report.sections.opinions import SECTION
from tests.evaluated import battle, judgment


def judged(name: str, human: str | None, **winners: str) -> dict[str, Any]:
    """A battle with a verdict of each judge."""
    return battle(name, human=human) | {
        "judgments": [judgment(winner, evaluator=judge) for judge, winner in winners.items()]
    }


def test_each_judge_is_beside_people_and_the_judge_that_leads(read: Any) -> None:
    content, numbers = SECTION.build(
        read(
            judged("b1", "a", zeta="a", alpha="b"),
            judged("b2", "both_bad", zeta="tie", alpha="tie"),
            judged("b3", None, zeta="a"),
        )
    )
    alpha, zeta = numbers
    assert (alpha["name"], alpha["battles"], alpha["leads"]) == ("alpha", 2, 2)
    assert (zeta["name"], zeta["battles"], zeta["leads"]) == ("zeta", 3, 1)  # alone about the third battle
    assert (alpha["with_people"]["count"], alpha["with_people"]["of"]) == (1, 2)
    assert (zeta["with_people"]["count"], zeta["with_people"]["of"]) == (2, 2)
    assert alpha["with_leading"] is None
    assert (zeta["with_leading"]["count"], zeta["with_leading"]["of"]) == (2, 3)
    assert alpha["points"] == {"left": 0.25, "right": 0.75}
    assert content.finding == "Of 2 judges, alpha leads, in 2 of 3 battles."
    assert [block.caption for block in content.blocks] == ["Judges", "Share of the points by judge"]


def test_an_additional_judge_never_leads_where_another_one_speaks(read: Any) -> None:
    row = battle("b1") | {
        "judgments": [judgment("a", evaluator="zeta"), judgment("b", evaluator="alpha", additional=True)]
    }
    found = SECTION.compute(read(row))
    assert [(opinion.name, opinion.leads) for opinion in found] == [("zeta", 1), ("alpha", 0)]


def test_one_judge_is_nothing_to_compare(read: Any) -> None:
    content, numbers = SECTION.build(read(battle("b1"), battle("b2")))
    assert list(numbers) == []
    [notice] = content.blocks
    assert notice.text == "There is one judge at most."
