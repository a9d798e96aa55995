"""What an arena may send, and the exact words it hears otherwise."""

import json
from typing import Any

import pytest

from nuggetstream.domain.battle import Side, Source, Vote
from nuggetstream.domain.conversation import Role, Turn
from nuggetstream.domain.identity import content_hash
from nuggetstream.files.shapes import WORDS
from nuggetstream.files.submission import (
    InvalidSubmission,
    parse_submission,
    parse_submission_json,
    submission_of,
)

GOOD: dict[str, Any] = {
    "query": "What is tea?",
    "a": {"system": "left", "text": "Leaves."},
    "b": {"system": "right", "text": "A drink.", "sources": [{"url": "https://example.org"}]},
}


def sent(**changes: Any) -> dict[str, Any]:
    return GOOD | changes


def answer(system: str = "left", text: str = "Leaves.", **more: Any) -> dict[str, Any]:
    return {"system": system, "text": text, **more}


def turn(role: str, text: str) -> dict[str, str]:
    return {"role": role, "text": text}


TURNS = [turn("user", "Who grows tea?"), turn("assistant", "China.")]


def without(field: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != field}


BAD = {
    "a query left out": (without("query"), "query: is missing"),
    "an answer left out": (without("b"), "b: is missing"),
    "an answer without a system": (sent(a={"text": "x"}), "a.system: is missing"),
    "an empty query": (sent(query=" \n"), "query: is empty"),
    "an empty id": (sent(id=""), "id: is empty"),
    "a vote nobody can cast": (sent(vote="middle"), f"vote: {WORDS}"),
    "ten megabytes of answer": (
        sent(a=answer(text="x" * 10_000_000)),
        "a.text: is 10,000,000 bytes long; at most 200,000 are accepted",
    ),
    "too many bytes in few letters": (
        sent(query="茶" * 7000),
        "query: is 21,000 bytes long; at most 20,000 are accepted",
    ),
    "two empty answers": (
        sent(a=answer(text=""), b=answer("right", " ")),
        "both answers are empty: there is nothing to compare",
    ),
    "a battle against oneself": (sent(b=answer()), "system 'left' battles itself"),
    "a field nobody knows": (sent(colour="red"), "colour: is not a field of a battle"),
    "a field nobody knows in an answer": (
        sent(a=answer(colour="x")),
        "a.colour: is not a field of a battle",
    ),
    "a NUL": (sent(query="a\x00b"), "query: contains a NUL character"),
    "half of a surrogate pair": (
        sent(query="a\ud800b"),
        "query: contains half of a surrogate pair, which is no character",
    ),
    "too many sources": (
        sent(a=answer(sources=[{"url": f"u{i}"} for i in range(101)])),
        "a.sources: is 101 long; at most 100 are accepted",
    ),
    "a name too long": (
        sent(a=answer(system="x" * 201)),
        "a.system: is 201 long; at most 200 are accepted",
    ),
    "a name with an invisible character": (
        sent(a=answer(system="gpt\u200b-4")),
        "a.system: contains the invisible character U+200B",
    ),
    "a name with letters of two alphabets": (
        sent(a=answer(system="g\u0440t-4")),
        "a.system: mixes letters of Cyrillic and Latin in 'g\u0440t-4', which reads like another name",
    ),
    "a name that becomes too long": (
        sent(a=answer(system="\ufdfa" * 12)),
        "a.system: is 216 long; at most 200 are accepted",
    ),
    "a name that looks like the other": (
        sent(a=answer(system="x\u00a0 caf\u00e9"), b=answer(system=" x cafe\u0301")),
        "system 'x café' battles itself",
    ),
    "a source without anything": (
        sent(a=answer(sources=[{"url": "u"}, {"title": "t"}])),
        "a.sources.1: has neither a url nor a text",
    ),
    "a conversation that ends with a question": (
        sent(conversation=TURNS[:1]),
        "conversation: ends with a turn of the user; it has the turns before the query",
    ),
    "an empty question": (sent(conversation=[turn("user", " "), TURNS[1]]), "conversation.0: is empty"),
    "a role nobody has": (
        sent(conversation=[turn("system", "Be kind."), *TURNS]),
        "conversation.0.role: Input should be 'user' or 'assistant'",
    ),
    "too many turns": (
        sent(a=answer(conversation=TURNS * 26)),
        "a.conversation: is 52 long; at most 50 are accepted",
    ),
    "a turn too long": (
        sent(conversation=[TURNS[0], turn("assistant", "x" * 100_001)]),
        "conversation.1.text: is 100,001 bytes long; at most 100,000 are accepted",
    ),
    "a conversation too long": (
        sent(conversation=[TURNS[0], turn("assistant", "x" * 99_000)] * 3),
        "conversation: is 297,042 bytes long; at most 200,000 are accepted",
    ),
    "two conversations": (
        sent(conversation=TURNS, a=answer(conversation=TURNS)),
        "conversation: is given for the battle and for an answer; which one is meant?",
    ),
    "answers to other questions": (
        sent(a=answer(conversation=TURNS)),
        "a.conversation and b.conversation: the turns of the user differ",
    ),
    "an answer that is a text": (sent(a="Leaves."), "a: should be an object"),
    "a list": ([], "should be an object"),
    "nothing": (None, "should be an object"),
}


@pytest.mark.parametrize(("data", "problem"), BAD.values(), ids=BAD)
def test_a_bad_battle_is_refused_with_the_field_and_the_reason(data: Any, problem: str) -> None:
    with pytest.raises(InvalidSubmission) as raised:
        parse_submission(data)
    assert raised.value.problems == [problem]


@pytest.mark.parametrize("name", ["a query left out", "ten megabytes of answer", "a NUL", "too many sources"])
def test_json_is_checked_as_strictly(name: str) -> None:
    data, problem = BAD[name]
    with pytest.raises(InvalidSubmission) as raised:
        parse_submission_json(json.dumps(data))
    assert raised.value.problems == [problem]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not valid JSON: EOF while parsing an object at line 1 column 1"),
        ("", "is not valid JSON: EOF while parsing a value at line 1 column 0"),
        (b"\xff", "is not valid JSON: expected value at line 1 column 1"),
        ('{"query": "\\ud800"}', "is not valid JSON: unexpected end of hex escape at line 1 column 18"),
        ("[]", "should be an object"),
    ],
)
def test_what_is_not_json_is_refused_with_the_place(line: str | bytes, problem: str) -> None:
    with pytest.raises(InvalidSubmission) as raised:
        parse_submission_json(line)
    assert raised.value.problems == [problem]


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(InvalidSubmission) as raised:
        parse_submission({"query": "", "a": answer(), "vote": "x"})
    assert [problem.partition(":")[0] for problem in raised.value.problems] == ["query", "b", "vote"]
    assert str(raised.value) == "; ".join(raised.value.problems)


def test_an_empty_answer_is_a_valid_bad_answer() -> None:
    assert parse_submission(sent(a=answer(text=""))).to_core().a.text == ""


def test_the_least_battle_gets_the_defaults() -> None:
    battle = parse_submission(GOOD).to_core()
    assert (battle.arena, battle.language, battle.tags) == ("default", None, ())
    assert battle.b.sources == (Source("https://example.org"),)


def test_a_text_without_a_url_is_named_after_its_content() -> None:
    battle = parse_submission(sent(a=answer(sources=[{"text": "Tea."}]))).to_core()
    assert battle.a.sources == (Source(f"inline:{content_hash('Tea.')[:16]}", None, "Tea."),)


def test_an_empty_text_is_a_source_that_says_nothing() -> None:
    battle = parse_submission(sent(a=answer(sources=[{"text": ""}]))).to_core()
    assert battle.a.sources[0].text == ""


def test_a_source_named_twice_counts_once_where_it_was_first() -> None:
    sources = [{"url": "x", "title": "first"}, {"url": "y"}, {"url": "x", "title": "again"}]
    battle = parse_submission(sent(a=answer(sources=sources))).to_core()
    assert battle.a.sources == (Source("x", "first"), Source("y"))


def test_turns_are_read_where_both_systems_had_them_and_where_each_had_its_own() -> None:
    shared = parse_submission_json(json.dumps(sent(conversation=TURNS))).to_core()
    assert shared.conversation == (Turn(Role.USER, "Who grows tea?"), Turn(Role.ASSISTANT, "China."))
    other = [TURNS[0], turn("assistant", "India.")]
    data = sent(a=answer(conversation=TURNS), b=answer("right", "A drink.", conversation=other))
    own = parse_submission(data).to_core()
    assert own.conversation == ()
    assert own.turns(Side.A) == shared.conversation
    assert own.turns(Side.B)[1].text == "India."
    assert submission_of(own, None).to_core() == own
    assert len({shared.id, own.id, parse_submission(GOOD).to_core().id}) == 3


def test_the_same_turns_in_both_answers_are_those_of_the_battle() -> None:
    data = sent(
        a=answer(conversation=TURNS), b=answer("right", "A drink.", sources=[{"url": "https://example.org"}])
    )
    data["b"]["conversation"] = TURNS
    assert parse_submission(data).to_core() == parse_submission(sent(conversation=TURNS)).to_core()


def test_an_id_is_kept_where_given() -> None:
    assert parse_submission(sent(id="mine")).to_core().id == "mine"


def test_an_id_derives_from_the_content_alone() -> None:
    first = parse_submission(GOOD).to_core()
    assert parse_submission_json(json.dumps(sent(vote="tie"))).to_core() == first
    assert parse_submission(sent(query="Why?")).to_core().id != first.id
    assert parse_submission(sent(arena="other")).to_core().id != first.id


def test_the_vote_is_read() -> None:
    assert parse_submission(sent(vote="both_bad")).vote is Vote.BOTH_BAD
    assert parse_submission(GOOD).vote is None


def test_a_battle_that_came_as_protobuf_is_the_same_battle() -> None:
    data = sent(id="mine", language="en", tags=["x"], a=answer(sources=[{"url": "u", "text": "t"}]))
    submitted = parse_submission(data)
    assert submission_of(submitted.to_core(), Vote.A) == submitted.model_copy(update={"vote": Vote.A})


def test_a_battle_that_came_as_protobuf_is_checked_too() -> None:
    battle = parse_submission(GOOD).to_core()
    with pytest.raises(InvalidSubmission, match="system 'left' battles itself"):
        submission_of(type(battle)(battle.id, battle.arena, battle.query, battle.a, battle.a), None)
