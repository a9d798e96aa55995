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
from nuggetstream.api.assignments import results_of
from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.exporting import write_export
from nuggetstream.files.formats.exports import EXPORTS, export_named
from nuggetstream.files.formats.format import RowLine, Source
from nuggetstream.files.formats.registry import read_battles, read_lines, recognised
from nuggetstream.files.formats.rows import Container
from nuggetstream.files.opening import UnusableFile
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
CHUNK = {
    "chunk_id": "c 1",
    "text": "The Moon raises tides.",
    "score": 0.75,
    "url": PAGE["url"],
    "cited_by": ["a"],
}
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


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_cited_passages_go_round_as_snippets(ending: str, tmp_path: Path) -> None:
    texts = ["The Moon raises tides.", None, "The Sun does, too."]
    cited = [{"text": text, "start": 1, "end": 9, "state": "found", "chunk_ids": []} for text in texts]
    view = full("b1")
    view["a"]["sources"] = [PAGE | {"cited": cited}, PAGE | {"url": "https://example.org/plain", "cited": []}]
    [line] = read_battles(export("search-arena", tmp_path / f"rows{ending}", view))
    assert isinstance(line, BattleLine)
    first, second = line.submission.to_core().a.sources
    assert [passage.snippet for passage in first.cited] == ["The Moon raises tides.", "The Sun does, too."]
    assert second.cited == ()


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


def test_grounding_and_contradictions_survive_the_way_to_nuggetizer_and_back(tmp_path: Path) -> None:
    facts = [
        nugget("The Moon raises tides.", a="support", b="contradiction") | {"grounding": "grounded"},
        nugget("Twice a day.", a="not_support", b="support") | {"grounding": "disputed"},
        nugget("Salt matters.", a="not_support", b="not_support"),
    ]
    path = export("nuggetizer-assignments", tmp_path / "file.jsonl", full("b1", nuggets=facts))
    left, right = rows(path)
    assert [each["assignment"] for each in right["nuggets"]] == ["not_support", "support", "not_support"]
    assert [each.get("contradicted") for each in right["nuggets"]] == [True, None, None]
    assert [each.get("contradicted") for each in left["nuggets"]] == [None, None, None]
    [result] = results_of(Source(path, (path,), Container.JSONL))
    assert isinstance(result, dict)
    sides = {result[side]["system"]: side for side in "ab"}
    assert [
        (each["grounding"], each[sides["left"]]["support"], each[sides["right"]]["support"])
        for each in result["nuggets"]
    ] == [
        ("grounded", "support", "contradiction"),
        ("disputed", "not_support", "support"),
        (None, "not_support", "not_support"),
    ]


def test_the_decision_survives_the_way_to_nuggetizer_and_back(tmp_path: Path) -> None:
    facts = [nugget(f"Fact {n}.", a="support", b="support" if n else "not_support") for n in range(12)]
    verdict = {"a": {"all_score": 1.0}, "b": {"all_score": 11 / 12}, "margin": 1 / 12, "preference": "a"}
    decided = full("b1", nuggets=facts) | {"nugget_verdict": verdict | {"tie_threshold": 0.07}}
    path = export("nuggetizer-assignments", tmp_path / "file.jsonl", decided)
    [result] = results_of(Source(path, (path,), Container.JSONL))
    assert isinstance(result, dict)
    preferred = result["nugget_verdict"]["preference"]
    assert (result[preferred]["system"], result["nugget_verdict"]["tie_threshold"]) == ("left", 0.07)
    nothing = full("b2", nuggets=facts) | {"nugget_verdict": None, "undecided": "No source states any."}
    (tmp_path / "other").mkdir()
    path = export("nuggetizer-assignments", tmp_path / "other" / "file.jsonl", nothing)
    [result] = results_of(Source(path, (path,), Container.JSONL))
    assert isinstance(result, dict)
    assert (result["nugget_verdict"], result["undecided"]) == (None, "No source states any.")


def test_who_set_a_label_survives_the_way_to_nuggetizer_and_back(tmp_path: Path) -> None:
    ada = {"author": "Ada", "reason": "It does.", "model": "not_support"}
    fact = nugget("The Moon raises tides.", a="support", b="not_support")
    fact["a"] = fact["a"] | {"set_by": ada}
    path = export("nuggetizer-assignments", tmp_path / "file.jsonl", full("b1", nuggets=[fact]))
    left, right = rows(path)
    assert (left["nuggets"][0]["set_by"], "set_by" in right["nuggets"][0]) == (ada, False)
    [result] = results_of(Source(path, (path,), Container.JSONL))
    assert isinstance(result, dict)
    sides = {result[side]["system"]: result["nuggets"][0][side]["set_by"] for side in "ab"}
    assert sides == {"left": ada, "right": None}
    path.write_text(path.read_text().replace('"model": "not_support"', '"model": "unsure"'))
    lines = list(results_of(Source(path, (path,), Container.JSONL)))
    assert any(isinstance(line, BadLine) and "unsure" in line.problems[0] for line in lines)


def test_a_grounding_that_is_none_is_named(tmp_path: Path) -> None:
    path = export("nuggetizer-assignments", tmp_path / "file.jsonl", full("b1"))
    text = path.read_text(encoding="utf-8").replace('"vital"', '"vital", "grounding": "invented"', 1)
    path.write_text(text, encoding="utf-8")
    lines = list(results_of(Source(path, (path,), Container.JSONL)))
    assert any(isinstance(line, BadLine) and "invented" in line.problems[0] for line in lines)


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


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
@pytest.mark.parametrize("name", ["chatbot-arena", "comparia"])
def test_battles_come_back_from_other_arenas(name: str, ending: str, tmp_path: Path) -> None:
    tags = ["category:Nature", "topic:sea"]
    views = (full("b/1", tags=tags), full("b 2", conversation=[], human_vote="tie"), empty("b3"))
    path = export(name, tmp_path / f"rows{ending}", *views, full("b4", human_vote="both_bad"))
    assert recognised(path)[0].name == name
    found = [line.submission for line in read_battles(path) if isinstance(line, BattleLine)]
    told = [line.to_core() for line in found]
    assert [(each.id, each.arena, each.language) for each in told] == [
        (battle, name, "en") for battle in ("b/1", "b 2", "b3", "b4")
    ]
    both_bad = None if name == "comparia" else Vote.BOTH_BAD  # a missing vote is no tie
    assert [line.vote for line in found] == [Vote.A, Vote.TIE, None, both_bad]
    assert [each.query for each in told] == [f"query of {battle}" for battle in ("b/1", "b 2", "b3", "b4")]
    assert [turn.text for turn in told[0].conversation] == [turn["text"] for turn in EARLIER]
    assert [(each.a.system, each.a.text, each.b.text) for each in told] == [
        ("left", "Twice a day.", "Often.")
    ] * 4
    assert told[0].tags == (("category:Nature",) if name == "comparia" else ())


def cited(name: str) -> dict[str, Any]:
    """A battle whose answer A cites two pages."""
    view = full(name)
    text = "Tides rise twice a day. [1] The Moon raises them. [1, 2] That is old."
    pages = [PAGE, PAGE | {"url": "docid:d2", "title": "d2"}]
    return view | {"a": view["a"] | {"text": text, "sources": pages}}


@pytest.mark.parametrize("year", [2024, 2025])
def test_answers_of_trec_come_back_with_their_citations(year: int, tmp_path: Path) -> None:
    path = export(f"trec-rag-{year}", tmp_path / "file.jsonl.gz", cited("b1"), full("b2"))
    assert recognised(path)[0].name == "trec-rag"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        left = json.loads(next(iter(lines)))
    if year == 2024:
        assert (left["run_id"], left["topic_id"], left["response_length"]) == ("left", "b1", 12)
    else:
        assert left["metadata"] == {"run_id": "left", "narrative_id": "b1", "narrative": "query of b1"}
    assert left["references"] == [PAGE["url"], "d2"]
    assert left["answer"] == [
        {"text": "Tides rise twice a day.", "citations": [0]},
        {"text": "The Moon raises them.", "citations": [0, 1]},
        {"text": "That is old.", "citations": []},
    ]
    found = [line.submission.to_core() for line in read_battles(path) if isinstance(line, BattleLine)]
    assert [each.query for each in found] == ["query of b1", "query of b2"]
    texts = {found[0].a.text, found[0].b.text}
    assert texts == {cited("b1")["a"]["text"], "Often."}


def test_answers_and_verdicts_of_ragdoll_come_back(tmp_path: Path) -> None:
    for name in ("answers", "judgments"):
        (tmp_path / name).mkdir()
    path = export("ragdoll", tmp_path / "answers" / "file.jsonl", full("b1"))
    assert recognised(path)[0].name == "ragdoll"
    [line] = read_battles(path)
    assert isinstance(line, BattleLine)
    assert {line.submission.a.text, line.submission.b.text} == {"Twice a day.", "Often."}
    path = export("ragdoll-judgments", tmp_path / "judgments" / "file.jsonl", full("b1"), empty("b2"))
    assert recognised(path)[0].name == "ragdoll-judgments"
    assert winners(path) == ["b", "a"]
    assert [row["preferred_run_id"] for row in rows(path)] == ["right", "left"]


def winners(path: Path) -> list[Any]:
    return [line.fields["winner"] for line in read_lines(path, battles=False) if isinstance(line, RowLine)]


def test_the_tables_of_ragelo_come_back_as_a_folder(tmp_path: Path) -> None:
    other = CHUNK | {"chunk_id": "c 2", "text": "The Sun does, too.", "cited_by": ["a", "b"]}
    named = CHUNK | {"chunk_id": "c 3", "text": "Tides turn.", "url": "docid:d3", "cited_by": ["b"]}
    nobody = CHUNK | {"chunk_id": "c 4", "text": "Seas.", "url": "https://example.org/seas", "cited_by": []}
    views = [full("b1", evidence=[CHUNK, other, named, nobody]), full("b2", evidence=[])]
    for name in ("queries", "answers", "documents"):
        write_export(export_named(f"ragelo-{name}"), views, tmp_path / f"{name}.csv")
    assert recognised(tmp_path)[0].name == "ragelo"
    found = [line.submission.to_core() for line in read_battles(tmp_path) if isinstance(line, BattleLine)]
    assert [each.query for each in found] == ["query of b1", "query of b2"]
    sources = {
        answer.system: {source.url: source.text for source in answer.sources}
        for answer in (found[0].a, found[0].b)
    }
    assert sources == {
        "left": {PAGE["url"]: "The Moon raises tides.\n\nThe Sun does, too."},
        "right": {PAGE["url"]: "The Sun does, too.", "docid:d3": "Tides turn."},
    }
    assert not found[1].a.sources + found[1].b.sources
    (tmp_path / "verdicts").mkdir()
    path = export("ragelo-verdicts", tmp_path / "verdicts" / "file.csv", full("b1"), empty("b2"))
    assert recognised(path)[0].name == "ragelo-verdicts"
    assert winners(path) == ["b", "a"]


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
