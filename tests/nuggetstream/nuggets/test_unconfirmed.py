"""Claims that no source confirms are nobody's misses, and grounded nuggets have a preference of their own."""

from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Grounding, Grounds, Nugget, Revision
from nuggetstream.domain.offline import GROUNDED
from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.nuggets.explanation import explain
from tests.nuggetstream.nuggets.test_explanation import NO, YES, judged, nugget, snapshot


def grounded(name: str, grounding: Grounding) -> Nugget:
    return replace(nugget(name, "answer:b"), grounds=Grounds(grounding))


def battle(*, source: bool) -> BattleSnapshot:
    """Only B makes the claims; only A states the fact of a source, if there is one."""
    labels = {
        grounded("claim", Grounding.ANSWER_ONLY): (NO, YES),
        grounded("other", Grounding.ANSWER_ONLY): (NO, YES),
        grounded("false", Grounding.DISPUTED): (NO, YES),
    }
    fact = {grounded("fact", Grounding.GROUNDED): (YES, NO)} if source else {}
    return replace(snapshot(labels | fact), judgments=(judged(Vote.A, Vote.A),))


def test_who_does_not_make_a_claim_misses_nothing() -> None:
    explained = explain(battle(source=True))
    assert [(miss.nugget.id, miss.side) for miss in explained.misses] == [("fact", Side.B)]
    assert "Only B makes a claim that no source confirms: “Fact claim”" in explained.lines
    assert "Only B makes a claim that is disputed: “Fact false”" in explained.lines
    assert "Only A states: “Fact fact”" in explained.lines
    counted = "2 nuggets are confirmed by no source and 1 nugget is disputed"
    assert f"{counted}: an answer without them misses no known fact." in explained.lines
    assert not any("A misses" in line or "Only B states" in line for line in explained.lines)


def test_grounded_nuggets_have_a_preference_beside_that_of_all() -> None:
    explained = explain(battle(source=True))
    assert (explained.preference, explained.grounded and explained.grounded.preference) == (Vote.B, Vote.A)
    assert explained.lines[0].startswith("The nuggets prefer B")
    (line,) = [line for line in explained.lines if line.startswith("On the")]
    assert line == (
        "On the 1 of 4 nuggets that a source states, A is preferred: 1.00 (A) and 0.00 (B). "
        f"What differs is the 3 other nuggets, which no source is known to state. {GROUNDED.words}"
    )
    assert explained.lines.index(line) > 3  # it is no argument, so it stands behind what the answers state
    assert "no better than chance" in line
    assert "The judge (pairwise) disagrees with the nuggets: A is better, in both orders." in explained.lines


def test_a_disputed_nugget_gives_nobody_points() -> None:
    labels = {
        grounded("fact", Grounding.GROUNDED): (YES, NO),
        grounded("false", Grounding.DISPUTED): (NO, YES),
    }
    explained = explain(snapshot(labels))
    assert explained.preference is Vote.A
    assert explained.scores is not None
    assert [explained.scores[side].all_score for side in Side] == [1.0, 0.0]


def test_disputed_nuggets_alone_give_no_verdict() -> None:
    explained = explain(snapshot({grounded("false", Grounding.DISPUTED): (YES, YES)}))
    assert explained.undecided == "Every nugget is disputed, so there is no verdict by nuggets."


def test_a_setting_lets_grounded_nuggets_lead() -> None:
    explained = explain(battle(source=True), Lens.GROUNDED)
    assert explained.preference is Vote.B  # the scores of the papers stay
    assert explained.lines[0].startswith("On the 1 of 4 nuggets that a source states, A is preferred")
    assert explained.lines[1].startswith("The nuggets prefer B")
    assert "The judge (pairwise) agrees with the nuggets: A is better, in both orders." in explained.lines


def read(found: BattleSnapshot, *documents: str) -> BattleSnapshot:
    """The battle with a list that was created from these documents."""
    assert found.nugget_list is not None
    return replace(found, nugget_list=replace(found.nugget_list, history=(Revision(documents, ()),)))


@pytest.mark.parametrize("leading", [Lens.NUGGET, Lens.GROUNDED])
def test_claims_that_no_source_states_decide_nothing_and_are_no_tie(leading: Lens) -> None:
    explained = explain(read(battle(source=False), "answer:a", "answer:b", "c1"), leading)
    assert (explained.scores, explained.preference, explained.grounded) == (None, None, None)
    assert explained.undecided == explained.lines[0]
    assert explained.lines[:2] == (
        "No source states any of the nuggets, so there is no verdict by nuggets.",
        "Only B makes a claim that no source confirms: “Fact claim”",
    )
    assert "The judge (pairwise): A is better, in both orders." in explained.lines


def test_an_answer_earns_nothing_by_its_own_claims_against_one_that_states_nothing() -> None:
    explained = explain(read(battle(source=False), "answer:b"))
    assert (explained.scores, explained.preference) == (None, None)
    assert explained.undecided is not None
    assert explained.undecided.startswith("No source was read, and at most one answer states any")


def test_without_sources_two_answers_that_state_something_are_compared_with_each_other() -> None:
    claims = {
        grounded("1", Grounding.ANSWER_ONLY): (YES, NO),
        grounded("2", Grounding.ANSWER_ONLY): (YES, NO),
        grounded("3", Grounding.ANSWER_ONLY): (NO, YES),
    }
    explained = explain(read(snapshot(claims), "answer:a", "answer:b"))
    assert (explained.preference, explained.undecided) == (Vote.A, None)
    leads = explain(read(snapshot(claims), "answer:a", "answer:b"), Lens.GROUNDED)
    line = "No source states any of the nuggets, so there is no preference on grounded nuggets alone."
    assert (leads.grounded, leads.lines[0]) == (None, line)


def test_without_sources_a_battle_says_what_each_answer_alone_states_as_unverified() -> None:
    claims = {
        grounded("1", Grounding.ANSWER_ONLY): (YES, NO),
        grounded("2", Grounding.ANSWER_ONLY): (YES, YES),
        grounded("3", Grounding.ANSWER_ONLY): (NO, YES),
    }
    line = "Unverified, because no source was read: only A states “Fact 1”; only B states “Fact 3”."
    assert line in explain(read(snapshot(claims), "answer:a", "answer:b")).lines
    alone = explain(read(snapshot({grounded("1", Grounding.ANSWER_ONLY): (YES, NO)}), "answer:a"))
    assert alone.undecided is not None
    assert alone.lines[1] == "Unverified, because no source was read: only A states “Fact 1”."


def test_a_nugget_of_unknown_grounding_decides() -> None:
    """Lists of people and of other tools have no grounding."""
    found = read(snapshot({nugget("1"): (YES, NO), grounded("2", Grounding.ANSWER_ONLY): (NO, NO)}), "c1")
    assert explain(found).preference is Vote.A
