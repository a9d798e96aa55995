import pytest

from services.offline.heuristics import Embed, judge
from tests.services.offline.test_heuristics_facts import ANSWER, CHUNK, OTHER, QUERY, hashed

both_modes = pytest.mark.parametrize("embed", [None, hashed], ids=["lexical", "dense"])
MIRROR = {"a": "b", "b": "a", "tie": "tie"}
ANSWERS = ["", "Paris", ANSWER, OTHER, "😀", ANSWER.splitlines()[0], "地方新闻监督政府官员并告知居民。"]


@both_modes
@pytest.mark.parametrize("first", ANSWERS)
@pytest.mark.parametrize("second", ANSWERS)
def test_swapping_the_answers_swaps_the_winner(embed: Embed | None, first: str, second: str) -> None:
    forward = judge(QUERY, first, second, [CHUNK], embed=embed)
    assert judge(QUERY, second, first, [CHUNK], embed=embed).winner == MIRROR[forward.winner]


@both_modes
def test_the_answer_with_the_facts_wins_and_the_reason_is_one_sentence(embed: Embed | None) -> None:
    verdict = judge(QUERY, OTHER, ANSWER, [CHUNK], embed=embed)
    assert verdict.winner == "b"
    assert verdict.reason.startswith("The second answer is better by")
    assert len(verdict.reason.split()) <= 25


@both_modes
@pytest.mark.parametrize("text", ["", ANSWER])
def test_equal_answers_tie(embed: Embed | None, text: str) -> None:
    assert judge(QUERY, text, text, [], embed=embed).winner == "tie"


@both_modes
@pytest.mark.parametrize(
    "empty", ["", "わかりません", "I do not know who won. Sorry, I can't help with that."]
)
def test_an_answer_that_states_nothing_loses_to_one_that_states_something(
    embed: Embed | None, empty: str
) -> None:
    verdict = judge("who won in 2014?", empty, "The 2014 final was won by Germany.", [], embed=embed)
    assert verdict.winner == "b"
    assert verdict.reason == "The first answer states nothing."
    assert judge("who won in 2014?", empty, "I do not know.", [], embed=embed).winner == "tie"


def test_saying_everything_twice_wins_nothing() -> None:
    lines = ANSWER.splitlines()
    assert judge(QUERY, ANSWER, "\n".join(lines + lines), [CHUNK], embed=None).winner == "tie"


def test_the_order_of_the_evidence_does_not_matter() -> None:
    evidence = [CHUNK, "Local papers report on budgets of towns and schools.", OTHER]
    forward = judge(QUERY, ANSWER, OTHER, evidence, embed=None)
    assert judge(QUERY, ANSWER, OTHER, evidence[::-1], embed=None) == forward


def test_a_single_fact_is_not_counted_in_the_plural() -> None:
    verdict = judge(QUERY, ANSWER.splitlines()[0], "Paris", [], embed=None)
    assert "coverage of 1 fact (100% against 0%)" in verdict.reason


@pytest.mark.parametrize("more", ["", " The Louvre is the largest museum in the world."])
def test_an_answer_to_the_question_beats_a_longer_one_about_something_else(more: str) -> None:
    aside = f"Paris is a beautiful city with many museums and wonderful parks along the Seine.{more}"
    verdict = judge(
        "How tall is the Eiffel Tower?", "The Eiffel Tower is 330 metres tall.", aside, [], embed=None
    )
    assert verdict.winner == "a"
    assert "closeness to the query" in verdict.reason
