"""`ns.read_votes` reads the votes of every format, and they are those that the format itself reads."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nuggetstream as ns
from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.format import RowLine
from nuggetstream.files.formats.registry import FORMATS, read_lines, recognised
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.outcomes import OutcomeWords

SAMPLES = Path(__file__).parent / "samples"
# Formats that hold votes, by their samples; the others have none.
WITH_VOTES = (
    "search_arena_7k.jsonl",
    "search_arena_24k.jsonl",
    "chatbot_arena.jsonl",
    "lmsys_55k.csv",
    "comparia.jsonl",
    "crowdrag25.jsonl",
    "ragelo_verdicts.csv",
    "ragdoll_judgments.jsonl",
    "alpaca_eval.jsonl",
    "mt_bench_pairs.jsonl",
    "argquality_20.csv",
    "votes.jsonl",
)
DOCUMENTS = {"d1": "Leaves."}
Cast = tuple[str, str, Vote | float]


def without_bad_lines(name: str, folder: Path) -> Path:
    """A sample without the lines that its format rejects, which end the reading of votes."""
    source = SAMPLES / name
    bad = {line.line for line in read_lines(source, DOCUMENTS, battles=False) if isinstance(line, BadLine)}
    path = folder / name
    text = source.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for number, line in enumerate(text, 1) if number not in bad), "utf-8")
    return path


def votes_of_format(path: Path) -> list[Cast]:
    """The votes as the reader of the format gives them."""
    cast: list[Cast] = []
    for line in read_lines(path, DOCUMENTS, battles=False):
        if isinstance(line, BattleLine) and line.submission.vote is not None:
            battle = line.submission.to_core()
            cast.append((battle.a.system, battle.b.system, line.submission.vote))
        elif isinstance(line, RowLine) and line.fields["winner"] is not None:
            a, b = line.fields["system_a"], line.fields["system_b"]
            cast.append((a, b, OutcomeWords().outcome(str(line.fields["winner"]), a, b)))
    return cast


def votes_read(source: Any) -> list[Cast]:
    return [(vote.system_a, vote.system_b, vote.outcome) for vote in ns.read_votes(source).votes]


@pytest.mark.parametrize("name", WITH_VOTES)
def test_the_votes_of_a_format_are_those_that_its_reader_gives(name: str, tmp_path: Path) -> None:
    path = without_bad_lines(name, tmp_path)
    expected = votes_of_format(path)
    assert expected
    assert votes_read(path) == expected


def test_every_format_with_a_vote_of_its_own_is_tried() -> None:
    own = {known.name for known in FORMATS if known.vote_of is not None} - {"nuggetstream"}
    assert own <= {recognised(SAMPLES / name)[0].name for name in WITH_VOTES}


BATTLES = [
    {"id": "b1", "query": "Why?", "a": {"system": "x", "text": "1"}, "b": {"system": "y"}, "vote": "b"},
    {"id": "b2", "query": "Why?", "a": {"model": "x", "text": "1"}, "b": {"model": "y"}, "winner": "x"},
    {"id": "b3", "query": "Why?", "a": {"system": "x", "text": "1"}, "b": {"system": "y"}},
]


def test_battles_of_ours_are_votes(tmp_path: Path) -> None:
    path = tmp_path / "battles.jsonl"
    path.write_text("\n".join(map(json.dumps, BATTLES)), encoding="utf-8")
    votes = ns.read_votes(path, battle=True)
    assert [(vote.battle, vote.outcome) for vote in votes.votes] == [("b1", Vote.B), ("b2", Vote.A)]
    assert (votes.rows, votes.without_vote) == (3, 1)
    assert votes_read(BATTLES) == [("x", "y", Vote.B), ("x", "y", Vote.A)]


def comparia(**more: Any) -> dict[str, Any]:
    row = {"conversation_pair_id": "p", "model_a_name": "x", "model_b_name": "y", "visitor_id": "v1"}
    return row | {"conversation_a": "[]", "conversation_b": "[]", "both_equal": False} | more


def test_a_tie_of_comparia_is_a_tie_and_other_columns_are_still_there() -> None:
    frame = pl.DataFrame(
        [
            comparia(chosen_model_name="y", timestamp="2026-01-02"),
            comparia(chosen_model_name=None, both_equal=True, timestamp="2026-02-02"),
            comparia(chosen_model_name=None, timestamp="2026-02-03"),
        ]
    )
    votes = ns.read_votes(frame, cluster="visitor_id", time=True)
    assert [vote.outcome for vote in votes.votes] == [Vote.B, Vote.TIE]
    assert (votes.without_vote, votes.votes[0].cluster) == (1, "v1")
    assert [vote.time.month for vote in votes.votes if vote.time] == [1, 2]
    assert len(ns.rate_over_time(frame, "month", resamples=10).periods) == 2


def test_columns_that_a_person_names_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.csv"
    path.write_text("qid,agent_a,agent_b,answer,better\nq,x,y,long,b\n", encoding="utf-8")
    assert [vote.outcome for vote in ns.read_votes(path, winner="better").votes] == [Vote.B]
    with pytest.raises(UnusableFile, match=r"verdicts\.csv:2: answer: is 'long'; expected A, B or C"):
        ns.read_votes(path)


def test_a_column_named_as_that_of_another_format_changes_nothing() -> None:
    rows = [{"system_a": "x", "system_b": "y", "winner": "a", "gold": "b", "judge_verdict": "B"}]
    assert votes_read(rows) == [("x", "y", Vote.A)]
    with pytest.raises(UnusableFile, match="has no columns of the two systems"):
        ns.read_votes([{"first": "x", "second": "y", "winner": "a", "gold": "b"}])


def test_a_json_array_of_votes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "votes.json"
    path.write_text(json.dumps([{"a": "x", "b": "y", "winner": "b"}], indent=1), encoding="utf-8")
    assert votes_read(path) == [("x", "y", Vote.B)]
