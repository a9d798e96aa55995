"""Battles as other projects write them: read as ours, or rejected with what was expected."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.registry import read_battles
from nuggetstream.files.shapes import EXPECTED, WORDS
from nuggetstream.files.submission import InvalidSubmission, parse_submission, parse_submission_json

OURS: dict[str, Any] = {
    "query": "What is tea?",
    "a": {"system": "atlas", "text": "Leaves."},
    "b": {"system": "birch", "text": "A drink."},
}
EARLIER = [("user", "Who grows tea?"), ("assistant", "China.")]


def turns(*said: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "text": text} for role, text in said]


def messages(*said: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"role": role, "content": content} for role, content in said]


def arena(a: Sequence[Any], b: Sequence[Any], **changes: Any) -> dict[str, Any]:
    """A row as Chatbot Arena publishes it."""
    return {
        "question_id": "q1",
        "model_a": "atlas",
        "model_b": "birch",
        "winner": "model_a",
        "judge": "arena_user_1",
        "conversation_a": a,
        "conversation_b": b,
        "turn": sum(message["role"] == "user" for message in a),
        "anony": True,
        "language": "English",
        "tstamp": 1_700_000_000.5,
    } | changes


ONE = [
    messages(("user", "What is tea?"), ("assistant", text)) for text in ("Leaves.", "A drink.")
]  # conversations of a single turn
PARTS = [{"type": "text", "text": "What is"}, {"type": "input_text", "text": "tea?"}]
SAME = {
    "flat names": {
        "prompt": "What is tea?",
        "model_a": "atlas",
        "response_a": "Leaves.",
        "model_b": "birch",
        "response_b": "A drink.",
    },
    "an object per answer": {
        "question": "What is tea?",
        "a": {"model": "atlas", "answer": "Leaves."},
        "b": {"agent": "birch", "response": "A drink."},
    },
    "texts beside objects": {
        "query": "What is tea?",
        "a": {"system": "atlas"},
        "b": {"system": "birch"},
        "answer_a": "Leaves.",
        "answer_b": "A drink.",
    },
    "messages of both": {"messages": messages(("user", "What is tea?")), "a": OURS["a"], "b": OURS["b"]},
    "messages of each": {
        "a": {"model": "atlas", "messages": ONE[0]},
        "b": {"model": "birch", "messages": ONE[1]},
    },
    "no value under another name": OURS | {"prompt": None, "model_a": None},
}


@pytest.mark.parametrize("data", SAME.values(), ids=SAME)
def test_a_battle_in_other_words_is_the_same_battle(data: dict[str, Any]) -> None:
    expected = parse_submission(OURS).to_core()
    assert parse_submission(data).to_core() == expected
    assert parse_submission_json(json.dumps(data)).to_core() == expected


def test_the_parts_of_a_message_are_one_text() -> None:
    data = {"messages": messages(("user", PARTS)), "a": OURS["a"], "b": OURS["b"]}
    assert parse_submission(data).query == "What is\ntea?"


@pytest.mark.parametrize(
    ("said", "vote"),
    [
        ("model_a", Vote.A), ("Model B", Vote.B), ("left", Vote.A), ("draw", Vote.TIE), ("tie", Vote.TIE),
        ("tie (bothbad)", Vote.BOTH_BAD), ("both bad", Vote.BOTH_BAD), ("birch", Vote.B), (None, None),
    ],
)  # fmt: skip
def test_a_vote_in_other_words_is_the_vote(said: str | None, vote: Vote | None) -> None:
    assert parse_submission(OURS | {"winner": said}).vote is vote
    assert parse_submission(OURS | {"vote": said}).vote is vote


def test_a_row_of_chatbot_arena_ends_with_the_query_and_the_answers() -> None:
    rows = [[*messages(*EARLIER), *one] for one in ONE]
    rows[1][1] = {"role": "assistant", "content": "India.", "num_tokens": 3}
    submission = parse_submission(arena(*rows))
    assert submission.vote is Vote.A
    ours = OURS | {"id": "q1", "language": "English"}
    ours["a"] = OURS["a"] | {"conversation": turns(*EARLIER)}
    ours["b"] = OURS["b"] | {"conversation": turns(EARLIER[0], ("assistant", "India."))}
    assert submission.to_core() == parse_submission(ours).to_core()
    assert parse_submission(arena(*ONE)).to_core().conversation == ()


def test_messages_before_the_query_are_earlier_turns() -> None:
    ours = parse_submission(OURS | {"conversation": turns(*EARLIER)}).to_core()
    ended = messages(*EARLIER, ("user", "What is tea?"))
    assert parse_submission({"messages": ended, "a": OURS["a"], "b": OURS["b"]}).to_core() == ours
    assert parse_submission(OURS | {"messages": messages(*EARLIER)}).to_core() == ours


OTHER = messages(("user", "Why?"), ("assistant", "A drink."))
IMAGE = messages(("user", [{"type": "image_url", "image_url": {"url": "x"}}]), ("assistant", "Leaves."))
BAD = {
    "two names for a field": (
        OURS | {"prompt": "Why?"},
        "query and prompt: mean the same; which one counts?",
    ),
    "two names for a system": (
        OURS | {"model_a": "cedar"},
        "a.system and model_a: mean the same; which one counts?",
    ),
    "a winner and a vote": (
        OURS | {"winner": "a", "vote": "b"},
        "vote and winner: mean the same; which one counts?",
    ),
    "a word nobody uses": (OURS | {"winner": "middle"}, f"winner: {WORDS}"),
    "a letter of a file of labels": (OURS | {"vote": "c"}, f"vote: {WORDS}"),
    "a share of a win": (OURS | {"vote": "0.8"}, f"vote: {WORDS}"),
    "a name that is the word for the other": (
        OURS | {"a": {"system": "right", "text": "x"}, "winner": "right"},
        "winner: is 'right', the name of one system and the usual word for another outcome",
    ),
    "two queries": (
        arena(ONE[0], OTHER),
        "conversation_a and conversation_b: the last messages of the user differ",
    ),
    "a query that is not the last one": (
        arena(*ONE, query="Why?"),
        "conversation_a and conversation_b and query: the last messages of the user differ",
    ),
    "no answer at the end": (
        arena(ONE[0][:1], ONE[1]),
        "conversation_a: expected the answer, a message of the assistant, at the end",
    ),
    "an answer at the end": (
        {"messages": ONE[0], "a": OURS["a"], "b": OURS["b"]},
        "messages: expected the query, a message of the user, at the end",
    ),
    "a vote on an earlier turn": (
        arena([*messages(*EARLIER), *ONE[0]], ONE[1], turn=1),
        "turn: is 1, but conversation_a has 2 messages of the user",
    ),
    "a picture": (
        arena(IMAGE, ONE[1]),
        "conversation_a.0.content: has a part of type 'image_url'; expected type 'text'",
    ),
    "content and text": (
        OURS | {"messages": [{"role": "user", "content": "x", "text": "y"}, *messages(("assistant", "z"))]},
        "messages.0: has content and text; which one counts?",
    ),
    "instructions of an operator": (
        OURS | {"messages": messages(("system", "Be kind."), *EARLIER)},
        "messages.0.role: Input should be 'user' or 'assistant'",
    ),
    "a field nobody knows": (
        SAME["flat names"] | {"colour": "red"},
        "colour: is not a field of a battle",
    ),
    "an answer too long": (
        SAME["flat names"] | {"response_a": "x" * 200_001},
        "response_a: is 200,001 bytes long; at most 200,000 are accepted",
    ),
    "messages that are a text": (
        {"messages": "Why?", "a": OURS["a"], "b": OURS["b"]},
        "messages: expected the query, a message of the user, at the end",
    ),
}


@pytest.mark.parametrize(("data", "problem"), BAD.values(), ids=BAD)
def test_what_can_be_read_in_two_ways_or_not_at_all_is_rejected_by_its_own_names(
    data: dict[str, Any], problem: str
) -> None:
    for check in (parse_submission, lambda value: parse_submission_json(json.dumps(value))):
        with pytest.raises(InvalidSubmission) as raised:
            check(data)
        assert problem in raised.value.problems


def test_a_shape_nobody_knows_is_told_what_was_expected() -> None:
    with pytest.raises(InvalidSubmission) as raised:
        parse_submission({"instruction": "Why?", "chosen": "x", "rejected": "y"})
    assert EXPECTED in raised.value.problems
    assert "chosen: is not a field of a battle" in raised.value.problems


def test_a_file_may_have_lines_of_all_shapes(tmp_path: Any) -> None:
    rows = [OURS, SAME["flat names"], arena(*ONE), BAD["two queries"][0]]
    path = tmp_path / "battles.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    *good, bad = read_battles(path)
    assert all(isinstance(line, BattleLine) and line.submission.query == "What is tea?" for line in good)
    assert isinstance(bad, BadLine)
