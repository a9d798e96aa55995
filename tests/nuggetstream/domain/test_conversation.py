"""Conversations: what a prompt shows of them and what a search adds to the query."""

from dataclasses import replace

from nuggetstream.domain.conversation import (
    CUT,
    SEARCH_CHARACTERS,
    Context,
    NamedTurn,
    Role,
    Turn,
    context_of,
)
from tests import samples
from tests.samples import TURNS


def said(*texts: str) -> tuple[Turn, ...]:
    """Turns of a user and an assistant that take turns."""
    roles = (Role.USER, Role.ASSISTANT)
    return tuple(Turn(roles[number % 2], text) for number, text in enumerate(texts))


def context(*texts: str, characters: int = 100) -> Context:
    found = context_of(said(*texts), {}, characters)
    assert found is not None
    return found


def test_a_battle_of_a_single_turn_has_no_context_and_is_searched_by_its_query() -> None:
    battle = samples.battle()
    assert battle.context is None
    assert battle.searched == battle.query


def test_turns_of_both_systems_are_named_by_exchange_and_role() -> None:
    names = [turn.name for turn in context("q", "a", "r", "b").common]
    assert names == ["t1.user", "t1.assistant", "t2.user", "t2.assistant"]


def test_own_answers_stand_beside_the_turns_of_the_user_that_they_share() -> None:
    own = {"a": said("q", "left", "r", "left again"), "b": said("q", "right", "r", "right again")}
    found = context_of((), own)
    assert found is not None
    assert found.common == (NamedTurn("t1.user", "q"), NamedTurn("t2.user", "r"))
    assert found.own["b"] == (NamedTurn("t1", "right"), NamedTurn("t2", "right again"))
    assert set(found.texts) == {"q", "r", "left", "left again", "right", "right again"}


def test_turns_of_an_assistant_that_nobody_asked_and_two_in_a_row_are_kept() -> None:
    turns = (Turn(Role.ASSISTANT, "Hello."), *said("q", "a"), Turn(Role.ASSISTANT, "b"))
    found = context_of(turns, {})
    assert found is not None
    assert [turn.text for turn in found.common] == ["Hello.", "q", "a\n\nb"]


def test_the_oldest_exchanges_are_left_out_whole_and_counted() -> None:
    found = context("x" * 40, "y" * 40, "q" * 40, "a" * 40, "r" * 10, "b" * 10)
    assert [turn.text[0] for turn in found.common] == ["q", "a", "r", "b"]
    assert found.left_out == 1


def test_a_newest_exchange_that_is_too_long_loses_the_beginnings_of_its_texts() -> None:
    found = context("q", "a", "long " * 50 + "question", "long " * 50 + "answer")
    assert found.left_out == 1
    assert all(turn.text.startswith(CUT) and len(turn.text) == 50 for turn in found.common)
    assert [turn.text.split()[-1] for turn in found.common] == ["question", "answer"]


def test_a_search_looks_for_the_newest_characters_of_the_earlier_questions_and_the_query() -> None:
    battle = replace(samples.battle(), conversation=TURNS)
    assert battle.searched == f"{TURNS[0].text}\n{battle.query}"
    long = replace(battle, conversation=said("x" * 5000, "a", "Who drinks it?", "b"))
    assert long.searched.endswith(f"x\nWho drinks it?\n{battle.query}")
    assert len(long.searched) == SEARCH_CHARACTERS + 1 + len(battle.query)
