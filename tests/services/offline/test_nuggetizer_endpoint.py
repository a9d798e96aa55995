"""The endpoint of `make bench-llm` reads nuggetizer's prompts and answers with our facts and labels."""

import ast

import pytest

from benchmarks.nuggetizer_endpoint import reply_to
from services.offline.answers import Unanswerable
from services.offline.requests import ChatMessage, ChatRequest

QUERY = "Why are there tides?"
FIRST = "The Moon pulls the ocean and raises two bulges of water.\n\n[2] The Sun raises weaker tides as well."
SECOND = "Friction of the tides slows the rotation of the Earth a little every century."


def asked(role: str, text: str) -> list[str]:
    messages = [ChatMessage(role="system", content=f"You are {role}, an assistant."),
                ChatMessage(role="user", content=text)]  # fmt: skip
    reply = ast.literal_eval(reply_to(ChatRequest(messages=messages)))
    assert isinstance(reply, list)
    return reply


def creation(context: str, so_far: list[str]) -> str:
    return (
        f"Update the list.\n\nSearch Query: {QUERY}\nContext:\n{context}\nSearch Query: {QUERY}\n"
        f"Initial Nugget List: {so_far}\nInitial Nugget List Length: {len(so_far)}\n\nUpdated Nugget List:"
    )


def test_a_window_is_answered_with_the_facts_of_all_its_documents() -> None:
    nuggets = asked("NuggetizeLLM", creation(f"[1] {FIRST}\n[2] {SECOND}", []))
    assert any("Moon" in nugget for nugget in nuggets)
    assert any("Friction" in nugget for nugget in nuggets)


def test_a_later_window_keeps_the_list_and_adds_to_it() -> None:
    known = ["The Moon pulls the ocean and raises two bulges of water."]
    nuggets = asked("NuggetizeLLM", creation(f"[1] {SECOND}", known))
    assert nuggets[0] == known[0]
    assert any("Friction" in nugget for nugget in nuggets[1:])


def test_every_nugget_gets_one_importance() -> None:
    text = f"Label them.\n\nSearch Query: {QUERY}\nNugget List: {[SECOND, FIRST]}\n\nOnly the list.\nLabels:"
    assert set(asked("NuggetizeScoreLLM", text)) <= {"vital", "okay"}
    assert len(asked("NuggetizeScoreLLM", text)) == 2


def test_labels_are_those_of_the_passage() -> None:
    text = (
        f"Label them.\n\nSearch Query: {QUERY}\nPassage: {SECOND}\n"
        f"Nugget List: {[SECOND, 'Cheese is made of milk.']}\nOnly the list.\nLabels:"
    )
    assert asked("NuggetizeAssignerLLM", text) == ["support", "not_support"]


def test_other_prompts_are_rejected() -> None:
    with pytest.raises(Unanswerable, match="not a prompt of nuggetizer"):
        asked("Somebody", "Why?")
