"""Claims that no source confirms are nobody's misses, and grounded nuggets have a preference of their own."""

from dataclasses import replace

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Grounding, Grounds, Nugget
from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.nuggets.explanation import explain
from tests.nuggetstream.nuggets.test_explanation import NO, YES, judged, nugget, snapshot


def grounded(name: str, grounding: Grounding) -> Nugget:
    return replace(nugget(name, "answer:b"), grounds=Grounds(grounding))


def battle(*, source: bool) -> BattleSnapshot:
    """Only B makes the claims; only A states the fact of a source, if there is one."""
    labels = {
        grounded("claim", Grounding.ANSWER_ONLY): (NO, YES),
        grounded("false", Grounding.DISPUTED): (NO, YES),
    }
    fact = {grounded("fact", Grounding.GROUNDED): (YES, NO)} if source else {}
    return replace(snapshot(labels | fact), judgments=(judged(Vote.A, Vote.A),))


def test_who_does_not_make_a_claim_misses_nothing() -> None:
    explained = explain(battle(source=True))
    assert [(miss.nugget.id, miss.side) for miss in explained.misses] == [("fact", Side.B)]
    assert "Only B makes a claim that no source states: “Fact claim”" in explained.lines
    assert "Only B makes a claim that is disputed: “Fact false”" in explained.lines
    assert "Only A states: “Fact fact”" in explained.lines
    counted = "1 nugget is in no source, only in an answer and 1 nugget is disputed"
    assert f"{counted}: an answer without them misses no known fact." in explained.lines
    assert not any("A misses" in line or "Only B states" in line for line in explained.lines)


def test_grounded_nuggets_have_a_preference_beside_that_of_all() -> None:
    explained = explain(battle(source=True))
    assert (explained.preference, explained.grounded and explained.grounded.preference) == (Vote.B, Vote.A)
    assert explained.lines[0].startswith("The nuggets prefer B")
    assert (
        "On the 1 of 3 nuggets that a source states, A is preferred: 1.00 (A) and 0.00 (B)."
        in explained.lines
    )
    assert "The judge (pairwise) disagrees with the nuggets: A is better, in both orders." in explained.lines


def test_a_setting_lets_grounded_nuggets_lead() -> None:
    explained = explain(battle(source=True), Lens.GROUNDED)
    assert explained.preference is Vote.B  # the scores of the papers stay
    assert explained.lines[0].startswith("On the 1 of 3 nuggets that a source states, A is preferred")
    assert "The judge (pairwise) agrees with the nuggets: A is better, in both orders." in explained.lines


def test_without_a_grounded_nugget_there_is_no_such_preference_and_no_tie() -> None:
    explained = explain(battle(source=False), Lens.GROUNDED)
    assert explained.grounded is None
    line = "No source states any of the nuggets, so there is no preference on grounded nuggets alone."
    assert explained.lines[0] == line
    assert "The judge (pairwise): A is better, in both orders." in explained.lines
