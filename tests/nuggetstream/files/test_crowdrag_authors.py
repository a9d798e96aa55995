"""Who wrote what: said outright, by the id, or by the order in which pairs were shown."""

import gzip
import json
from pathlib import Path

import pytest

from nuggetstream.files.crowdrag import rows_of
from nuggetstream.files.crowdrag_authors import STYLES, Authors, by_id, by_order, read_authors
from nuggetstream.files.opening import UnusableFile

LLM: Authors = {f"llm-{style}": ("t", f"llm-{style}") for style in STYLES}
TOPICS = dict.fromkeys([*LLM, "x", "y", "z"], "t")


def write(folder: Path, name: str, *rows: object) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / name).write_bytes(gzip.compress(text.encode()))


def battle(topic: str, **systems: str) -> dict[str, object]:
    sides = {side: {"response_id": f"{topic}-{system}", "system": system} for side, system in systems.items()}
    return {"topic": topic, **sides}


def test_the_full_corpus_is_believed_where_it_is_at_hand(tmp_path: Path) -> None:
    write(tmp_path, "responses.jsonl.gz", {"response": "r", "topic": "t", "style": "news", "kind": "human"})
    assert read_authors(tmp_path) == {"r": ("t", "human-news")}


def test_the_battles_name_the_authors_of_their_topics(tmp_path: Path) -> None:
    write(tmp_path, "battles.jsonl.gz", battle("t", a="human-news", b="llm-news"))
    shown = {"submission_id": "s", "query_id": "t", "response_a": "t-human-news", "response_b": "t-llm-news"}
    write(tmp_path, "raw_study2_responses.jsonl.gz", shown)
    assert read_authors(tmp_path) == {
        "t-human-news": ("t", "human-news"),
        "t-llm-news": ("t", "llm-news"),
    }
    write(tmp_path, "battles.jsonl.gz", battle("t", a="human-news", b="robot-news"))
    with pytest.raises(
        UnusableFile, match=r"battles.jsonl.gz:1: 'robot-news' is no system; expected .*llm-news"
    ):
        read_authors(tmp_path)


def test_the_id_of_an_llm_answer_is_made_of_topic_and_style() -> None:
    bullet = "02693406-15df-33d5-b424-219ac8ab2054"
    topics = {bullet: "2024-45494", "f82f5277-3cc7-37f0-bf59-8d960eceb6ae": "2024-45494"}
    assert by_id(topics) == {bullet: ("2024-45494", "llm-bullet")}
    assert by_id({bullet: "2024-41960"}) == {}


def test_an_ordered_questionnaire_tells_styles_apart() -> None:
    # llm-bullet < x < llm-essay < z and y < llm-bullet: x is the essay, y the bullets, z the news.
    shown = [("llm-bullet", "x"), ("x", "llm-essay"), ("llm-essay", "z"), ("y", "llm-bullet")]
    known_order = ("llm-bullet", "llm-news")
    told = by_order(TOPICS, [[*shown, known_order]], LLM)
    assert told == {"x": ("t", "human-essay"), "y": ("t", "human-bullet"), "z": ("t", "human-news")}


@pytest.mark.parametrize(
    ("questionnaires", "why"),
    [
        (
            [[("x", "y"), ("y", "z"), ("llm-bullet", "llm-news"), ("llm-news", "llm-essay")]],
            "two orders in it",
        ),
        ([[("x", "y"), ("y", "z")]], "nothing known in it"),
        ([[("x", "y"), ("llm-bullet", "llm-news")]], "z may stand anywhere"),
        ([[("x", "y"), ("y", "x"), ("llm-bullet", "llm-news")]], "no order is left"),
    ],
)
def test_where_the_order_does_not_decide_nothing_is_said(
    questionnaires: list[list[tuple[str, str]]], why: str
) -> None:
    assert by_order(TOPICS, questionnaires, LLM) == {}, why


def test_a_topic_with_an_answer_too_many_is_left_alone() -> None:
    shown = [("x", "y"), ("y", "z"), ("llm-bullet", "llm-news")]
    assert len(by_order(TOPICS, [shown], LLM)) == 3
    assert by_order(TOPICS | {"w": "t"}, [shown], LLM) == {}


def test_on_recorded_topics_left_out_the_order_is_never_wrong(recorded_data: Path) -> None:
    """The inference, checked on the 38 topics whose authors the battles name."""
    folder = recorded_data / "crowdrag25"
    known = read_authors(folder)
    named = {
        side["response_id"]: (row["topic"], side["system"])
        for row in rows_of(folder / "battles.jsonl.gz", dict)
        for side in (row["a"], row["b"])
    }
    topics, questionnaires = _shown(folder)
    llm = by_id(topics)
    assert len(llm) == 195
    assert all(llm.get(answer, found) == found for answer, found in named.items())
    told = 0
    for left_out in {topic for topic, _ in named.values()}:
        others = llm | {answer: found for answer, found in named.items() if found[0] != left_out}
        found = by_order(topics, questionnaires, others)
        mine = {answer: author for answer, author in found.items() if author[0] == left_out}
        assert mine.items() <= named.items()
        told += bool(mine)
    assert told == 33
    assert len(known) == 390 - 3 * 7


def _shown(folder: Path) -> tuple[dict[str, str], list[list[tuple[str, str]]]]:
    topics: dict[str, str] = {}
    pairs: dict[str, list[tuple[str, str]]] = {}
    for row in rows_of(folder / "raw_study2_responses.jsonl.gz", dict):
        pair = (row["response_a"], row["response_b"])
        pairs.setdefault(row["submission_id"], []).append(pair)
        topics |= dict.fromkeys(pair, row["query_id"])
    return topics, list(pairs.values())
