"""What is exported is read back as what it was, as far as the format holds it."""

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

import nuggetstream as ns
from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import BattleLine, UnusableFile
from nuggetstream.files.formats.exporting import write_export
from nuggetstream.files.formats.exports import EXPORTS, export_named
from nuggetstream.files.formats.format import RowLine
from nuggetstream.files.formats.registry import read_battles, read_lines
from nuggetstream.files.qrels import read_qrels, read_run
from nuggetstream.files.submission import parse_submission
from tests.evaluated import battle, judgment, nugget

EARLIER = [{"role": "user", "text": "What is the Moon?"}, {"role": "assistant", "text": "A satellite."}]
PAGE = {
    "url": "https://example.org/tides",
    "title": "Tides",
    "state": "fetched",
    "quality": "ok",
    "chunks": 1,
}
CHUNK = {"chunk_id": "c 1", "text": "The Moon raises tides.", "score": 0.75, "url": PAGE["url"]}
NUGGETS = [nugget("The Moon raises tides.", a="support", b="partial_support"), nugget("Twice a day.", "okay")]
GRADES = {
    "evaluator": "retrieval_relevance", "model": "m", "prompt_version": "1",
    "grades": [
        {"subject": "document", "document": "c 1", "criterion": "relevance", "scale": "0-2", "value": 2.0},
        {"subject": "document", "document": "c2", "criterion": "relevance", "scale": "0-2", "value": None},
    ],
}  # fmt: skip


def full(name: str, **more: Any) -> dict[str, Any]:
    row = battle(
        name, conversation=EARLIER, tags=["topic:sea"], nuggets=NUGGETS, evidence=[CHUNK], gradings=[GRADES],
        judgments=[judgment("b"), judgment("a", evaluator="also", additional=True)],
    )  # fmt: skip
    row["a"] = row["a"] | {"sources": [PAGE]}
    metrics = {"strict_vital": 1.0, "strict_all": 0.5, "vital": 1.0, "all_score": 0.5}
    verdict = row["nugget_verdict"]
    return row | {"nugget_verdict": verdict | {"a": metrics, "b": metrics}} | more


def empty(name: str) -> dict[str, Any]:
    return battle(name, human=None, judge=None, scores=None)


def export(name: str, path: Path, *views: dict[str, Any], lens: str | None = None) -> Path:
    write_export(export_named(name, lens), views, path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    return path


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".parquet"])
def test_battles_come_back_from_search_arena_as_they_were(ending: str, tmp_path: Path) -> None:
    path = export(
        "search-arena", tmp_path / f"rows{ending}", full("b/1"), full("b 2", conversation=[]), empty("b3")
    )
    expected = [
        parse_submission(
            {
                "id": name, "arena": "tides", "query": f"query of {name}", "language": "en", "tags": tags,
                "vote": vote, "conversation": turns,
                "a": {"system": "left", "text": "Twice a day.", "sources": pages},
                "b": {"system": "right", "text": "Often."},
            }
        )
        for name, tags, vote, turns, pages in (
            ("b/1", ["topic:sea"], "a", EARLIER, [{"url": PAGE["url"], "title": "Tides"}]),
            ("b 2", ["topic:sea"], "a", [], [{"url": PAGE["url"], "title": "Tides"}]),
            ("b3", [], None, [], []),
        )
    ]  # fmt: skip
    found = [line.submission for line in read_battles(path) if isinstance(line, BattleLine)]
    assert [line.to_core() for line in found] == [line.to_core() for line in expected]
    assert [line.vote for line in found] == [Vote.A, Vote.A, None]


def test_search_arena_has_the_results_under_their_published_names(tmp_path: Path) -> None:
    path = export("search-arena", tmp_path / "rows.parquet", full("b1"), empty("b2"))
    first, second = polars.read_parquet(path).to_dicts()
    assert first["turn"] == 2
    assert first["assigned_nuggets_b"][0] == {
        "text": "The Moon raises tides.", "importance": "vital", "assignment": "partial_support",
    }  # fmt: skip
    assert first["nugget_metrics_a"]["all_score"] == 0.5
    assert (first["winner"], first["winner_nuggets"], first["winner_judge"]) == (
        "model_a",
        "model_a",
        "model_b",
    )
    assert first["nugget_documents"] == [{"docid": "c 1", "segment": "The Moon raises tides."}]
    assert (second["winner"], second["winner_nuggets"], second["assigned_nuggets_a"]) == (None, None, None)


def test_nuggetizer_files_go_round(tmp_path: Path) -> None:
    for name in ("pool", "nuggets", "assignments"):
        (tmp_path / name).mkdir()
        export(f"nuggetizer-{name}", tmp_path / name / "file.jsonl", full("b1"), empty("b2"))
    pool, nuggets = (
        [
            line.fields
            for line in read_lines(tmp_path / name / "file.jsonl", battles=False)
            if isinstance(line, RowLine)
        ]
        for name in ("pool", "nuggets")
    )
    assert [dict(row) for row in pool] == [
        {
            "qid": "b1",
            "query": "query of b1",
            "documents": [{"docid": "c 1", "text": "The Moon raises tides."}],
        }
    ]
    assert [
        (row["qid"], [(each["text"], each["importance"]) for each in row["nuggets"]]) for row in nuggets
    ] == [("b1", [("The Moon raises tides.", "vital"), ("Twice a day.", "okay")])]
    left, right = rows(tmp_path / "assignments" / "file.jsonl")
    assert (left["run_id"], left["response_length"], left["qid"]) == ("left", 3, "b1")
    assert [each["assignment"] for each in left["nuggets"]] == ["support", "support"]
    assert [each["assignment"] for each in right["nuggets"]] == ["partial_support", "not_support"]
    [line] = read_battles(tmp_path / "assignments" / "file.jsonl")
    assert isinstance(line, BattleLine)
    assert {line.submission.a.text, line.submission.b.text} == {"Twice a day.", "Often."}


def test_an_answer_without_all_labels_is_not_written_and_an_unknown_label_is_no_support(
    tmp_path: Path,
) -> None:
    unlabelled = full("b1", nuggets=[nugget(b=None)])
    other = full("b2", nuggets=[nugget(a="contradicts", cause=None)])
    written = rows(export("nuggetizer-assignments", tmp_path / "file.jsonl", unlabelled, other))
    assert [(row["qid"], row["run_id"], row["nuggets"][0]["assignment"]) for row in written] == [
        ("b1", "left", "support"), ("b2", "left", "not_support"), ("b2", "right", "not_support"),
    ]  # fmt: skip


def test_votes_are_of_one_lens_unless_all_are_asked_for(tmp_path: Path) -> None:
    people = ns.read_votes(export("votes", tmp_path / "votes.csv", full("b1"), empty("b2")))
    assert [(vote.system_a, vote.outcome) for vote in people.votes] == [("left", Vote.A)]
    judges = ns.read_votes(export("votes", tmp_path / "votes.csv", full("b1"), lens="judge"))
    assert [vote.outcome for vote in judges.votes] == [Vote.B, Vote.A]
    everything = ns.read_votes(
        export("votes", tmp_path / "votes.csv", full("b1"), lens="all"), where={"lens": "nugget"}
    )
    assert [vote.outcome for vote in everything.votes] == [Vote.A]


def test_runs_and_qrels_are_those_of_trec(tmp_path: Path) -> None:
    [line] = read_run(export("run", tmp_path / "file", full("b 1"), empty("b2")))
    assert (line.query, line.document, line.rank, line.score) == ("b%201", "c%201", 1, 0.75)
    [label] = read_qrels(export("qrels", tmp_path / "file", full("b 1"), empty("b2")))
    assert (label.query, label.passage, label.label) == ("b%201", "c%201", 2)


def test_what_cannot_be_written_is_said_and_nothing_is_left_behind(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="TREC run is no Parquet"):
        write_export(export_named("run"), [], tmp_path / "run.parquet")
    with pytest.raises(UnusableFile, match="--lens is for votes, and TREC qrels has none"):
        export_named("qrels", "human")
    with pytest.raises(UnusableFile, match="there is no lens 'people'; there are all, human, nugget, judge"):
        export_named("votes", "people")

    def broken() -> Iterator[dict[str, Any]]:
        yield full("b1")
        raise UnusableFile("results.jsonl:2: is no battle")

    (tmp_path / "rows.jsonl").write_text("earlier")
    with pytest.raises(UnusableFile, match="is no battle"):
        write_export(export_named("search-arena"), broken(), tmp_path / "rows.jsonl")
    assert [file.name for file in tmp_path.iterdir()] == ["rows.jsonl"]
    assert (tmp_path / "rows.jsonl").read_text() == "earlier"


def test_an_export_needs_the_memory_of_a_few_battles(tmp_path: Path) -> None:
    text, battles = "word " * 20_000, 60  # 100 kB per answer, 12 MB in all

    def views() -> Iterator[dict[str, Any]]:
        for number in range(battles):
            view = full(f"b{number}")
            yield view | {side: view[side] | {"text": f"{number} {text}"} for side in "ab"}

    tracemalloc.start()
    try:
        done = write_export(export_named("search-arena"), views(), tmp_path / "rows.jsonl.gz")
        assert tracemalloc.get_traced_memory()[1] < battles * 100_000 // 2
    finally:
        tracemalloc.stop()
    assert (done.battles, done.rows, done.empty) == (battles, battles, 0)
    with gzip.open(tmp_path / "rows.jsonl.gz", "rt") as lines:
        assert sum(1 for _ in lines) == battles


def test_every_format_that_is_written_is_documented() -> None:
    page = (Path(__file__).parents[4] / "docs" / "formats.md").read_text("utf-8")
    written = page.split("## What is written")[1]
    for known in EXPORTS:
        assert f"| `{known.name}` |" in written
