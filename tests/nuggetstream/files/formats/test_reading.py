"""Every format is recognised by its content and read from a small file in its published shape."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars
import pytest

import nuggetstream as ns
from nuggetstream.domain.battle import Answer, Battle, Vote
from nuggetstream.files.dataset import BadLine, BattleLine, read_documents
from nuggetstream.files.formats.format import BATTLES, RowLine
from nuggetstream.files.formats.registry import FORMATS, read_battles, read_lines, recognised
from nuggetstream.files.opening import UnusableFile

SAMPLES = Path(__file__).parent / "samples"
QUERY = "Why do cats purr?"
RECOGNISED = {
    "search_arena_7k.jsonl": "search-arena",
    "search_arena_24k.jsonl": "search-arena",
    "chatbot_arena.jsonl": "chatbot-arena",
    "lmsys_55k.csv": "lmsys-55k",
    "comparia.jsonl": "comparia",
    "trec_rag_2024.jsonl": "trec-rag",
    "trec_rag_2025.jsonl": "trec-rag",
    "ragdoll_answers.jsonl": "ragdoll",
    "ragdoll_judgments.jsonl": "ragdoll-judgments",
    "alpaca_eval.jsonl": "alpaca-eval",
    "mt_bench_pairs.jsonl": "mt-bench-pairs",
    "ragdoll_support.jsonl": "ragdoll-support",
    "argquality.csv": "argquality",
    "argquality_20.csv": "argquality-20",
    "nuggetizer_pool.jsonl": "nuggetizer-pool",
    "nuggetizer_nuggets.jsonl": "nuggetizer-nuggets",
    "nuggetizer_assignments.jsonl": "nuggetizer-assignments",
    "ragelo": "ragelo",
    "ragelo/answers.csv": "ragelo",
    "ragelo_verdicts.csv": "ragelo-verdicts",
    "qrels.txt": "qrels",
    "run.txt": "run",
    "rubric_graded.jsonl": "rubric",
    "rubric_questions.jsonl": "rubric-bank",
    "crowdrag25.jsonl": "crowdrag25",
    "votes.jsonl": "votes",
    "documents.jsonl": "documents",
    "ragelo/documents.csv": "documents",
    "ragelo/queries.csv": "queries",
}


def lines(name: str, **options: Any) -> tuple[list[BattleLine], list[BadLine]]:
    read = list(read_battles(SAMPLES / name, **options))
    return [line for line in read if isinstance(line, BattleLine)], [
        line for line in read if isinstance(line, BadLine)
    ]


def battles(name: str) -> list[tuple[Battle, Vote | None]]:
    return [(line.submission.to_core(), line.submission.vote) for line in lines(name)[0]]


def rows(name: str) -> tuple[list[dict[str, Any]], list[tuple[int, str]]]:
    read = list(read_lines(SAMPLES / name, battles=False))
    bad = [(line.line, line.problems[0]) for line in read if isinstance(line, BadLine)]
    return [dict(line.fields) for line in read if isinstance(line, RowLine)], bad


def urls(answer: Answer) -> list[tuple[str, str | None]]:
    return [(source.url, source.title) for source in answer.sources]


def test_there_is_a_sample_of_every_format_but_ours() -> None:
    ours = {"results", "nuggetstream"}
    assert {known.name for known in FORMATS} - ours == set(RECOGNISED.values())


@pytest.mark.parametrize(("name", "expected"), RECOGNISED.items(), ids=list(RECOGNISED))
def test_a_format_is_recognised_by_its_content(name: str, expected: str, tmp_path: Path) -> None:
    assert recognised(SAMPLES / name)[0].name == expected
    if (path := SAMPLES / name).is_dir():
        return
    zipped = tmp_path / "file"  # no ending tells anything
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert recognised(zipped)[0].name == expected


@pytest.mark.parametrize("name", [name for name in RECOGNISED if "arena" in name or name == "comparia.jsonl"])
def test_arrays_and_parquet_hold_the_same_battles_as_lines(name: str, tmp_path: Path) -> None:
    expected = list(read_battles(SAMPLES / name))
    values = [json.loads(line) for line in (SAMPLES / name).read_text("utf-8").splitlines()]
    array = tmp_path / "array.json"
    array.write_text(json.dumps(values, indent=1, ensure_ascii=False), "utf-8")
    assert list(read_battles(array)) == expected
    for value, line in zip(values, expected, strict=True):
        table = tmp_path / "table"
        polars.DataFrame([value]).write_parquet(table)
        assert list(read_battles(table)) == [replace(line, line=1)]


def test_search_arena_has_the_answer_voted_on_and_the_pages_of_both_traces() -> None:
    (first, vote), (second, second_vote) = battles("search_arena_7k.jsonl")
    assert (first.id, first.arena, first.query, first.language) == (
        "search-arena-7",
        "search-arena",
        QUERY,
        "en",
    )
    assert (vote, second_vote, second.language) == (Vote.A, Vote.BOTH_BAD, "de")
    assert urls(first.a) == [("https://example.org/purring", "Purring")]
    assert urls(first.b) == [("https://example.org/cats", None), ("https://example.net/vet", "Ask a vet")]
    assert first.conversation == ()
    assert not first.b.text.startswith("You are welcome")
    assert (second.query, urls(second.a)) == ("Wann war das?", [("https://example.org/song", "Song")])
    assert second.a.conversation[0].text == "Wer hat den Kompass erfunden?"
    (third, third_vote), (fourth, fourth_vote) = battles("search_arena_24k.jsonl")
    assert (third_vote, third.tags) == (Vote.B, ("intent:Factual Lookup",))
    assert urls(third.b) == [("https://example.org/cats", None), ("https://example.net/vet", None)]
    assert (fourth_vote, fourth.id) == (None, "search-arena-d-2a-d-2b-2")
    assert urls(fourth.a) == [("https://example.org/egmont", None)]
    [bad] = lines("search_arena_7k.jsonl")[1]
    assert bad.line == 3
    assert bad.problems[0].startswith('winner: is "model_x"; expected a, b, tie')


def test_a_trace_of_another_shape_is_named(tmp_path: Path) -> None:
    row = json.loads((SAMPLES / "search_arena_24k.jsonl").read_text("utf-8").splitlines()[0])
    row["system_b_metadata"]["web_search_trace"] = [["x.org"]]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))
    [bad] = read_battles(path)
    assert isinstance(bad, BadLine)
    assert bad.problems == (
        'system_b_metadata.web_search_trace: holds "x.org"; expected a URL or a marker with a URL',
    )


def test_snippets_of_search_results_are_cited_passages(tmp_path: Path) -> None:
    row = json.loads((SAMPLES / "search_arena_24k.jsonl").read_text("utf-8").splitlines()[0])
    results = [
        {"url": "https://x.example/", "title": "X", "snippet": "Tides rise twice."},
        {"url": "https://y.example/", "snippet": "y" * 20_000},
        {"url": "https://z.example/", "snippet": None},
        {"url": "https://x.example/", "snippet": "They fall twice, too."},
        {"url": "https://x.example/", "snippet": "Tides rise twice."},
        {"url": "https://z.example/", "snippet": "Zeal."},
    ]
    row["system_b_metadata"]["web_search_trace"] = [{"search_results": results}]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))
    [line] = read_battles(path)
    assert isinstance(line, BattleLine)
    sources = line.submission.to_core().b.sources
    assert [[passage.snippet for passage in source.cited] for source in sources] == [
        ["Tides rise twice.", "They fall twice, too."], ["y" * 10_000], ["Zeal."],
    ]  # fmt: skip


def test_chatbot_arena_is_read_in_all_its_versions() -> None:
    (first, vote), (second, second_vote) = battles("chatbot_arena.jsonl")
    assert (first.a.system, first.language, vote) == ("alpha-13b", "en", Vote.B)
    assert (second.id, second.a.text, second.language, second_vote) == (
        "0198-a", "No idea.", "pl", Vote.BOTH_BAD,
    )  # fmt: skip
    assert "battles itself" in lines("chatbot_arena.jsonl")[1][0].problems[0]
    [(kaggle, winner)], [bad] = battles("lmsys_55k.csv"), lines("lmsys_55k.csv")[1]
    assert (kaggle.query, kaggle.a.text, kaggle.b.text, winner) == ("And a larger one?", "Three.", "", Vote.A)
    assert kaggle.a.conversation[-1].text == "Two."
    assert (bad.line, bad.problems[0][:30]) == (3, "response_b: is not valid JSON:")


def test_comparia_has_a_choice_an_equality_or_no_vote() -> None:
    found = battles("comparia.jsonl")
    assert [vote for _, vote in found] == [Vote.B, Vote.TIE, None]
    battle = found[0][0]
    assert (battle.id, battle.query, battle.language, battle.tags) == (
        "p1-p2", QUERY, "fr", ("category:Nature",),
    )  # fmt: skip
    assert lines("comparia.jsonl")[1][0].problems[0].startswith("conversation_a: is not valid JSON")


def test_preferences_of_alpaca_eval_are_shares_of_the_point() -> None:
    found, bad = rows("alpaca_eval.jsonl")
    assert [(row["system_a"], row["system_b"], row["winner"]) for row in found] == [
        ("base", "new", "1.0"), ("base", "new", "0.25"), ("base", "new", "tie"), ("base", "new", None),
    ]  # fmt: skip
    assert bad == [(5, "preference: is 3; expected a number from 1 to 2, or 0 for a tie")]
    outcomes = {1.0: Vote.A, 2.0: Vote.B, 1.75: 0.25, 0: Vote.TIE, 1.5: Vote.TIE}
    for preference, outcome in outcomes.items():
        row = {"instruction": "Why?", "generator_1": "x", "generator_2": "y", "preference": preference}
        [vote] = ns.read_votes([row]).votes
        assert (vote.system_a, vote.system_b, vote.outcome) == ("x", "y", outcome)


def test_a_judge_of_mt_bench_prefers_whom_both_games_prefer() -> None:
    found, bad = rows("mt_bench_pairs.jsonl")
    assert [(row["battle"], row["winner"], row["voter"]) for row in found] == [
        ("81", "a", "gpt-4, pair-v2"),
        ("82", "tie", "gpt-4, pair-v2"),
        ("83", "tie", "gpt-4, pair-v2"),
        ("84", None, "gpt-4, pair-v2"),
        ("85", "b", "gpt-4, pair-v2"),
    ]
    assert bad == [(6, 'g2_winner: is "model_3"; expected one of model_1, model_2, tie, error')]


def test_support_of_ragdoll_is_a_row_per_cited_document() -> None:
    found, bad = rows("ragdoll_support.jsonl")
    assert [(row["run"], row["document"], row["label"]) for row in found] == [
        (None, None, None), ("base", "d1", "support"), ("base", "d2", None),
        ("base", "d1", "support"), ("base", "d3", None), ("base", "d2", "not_support"),
    ]  # fmt: skip
    assert found[0]["citation"] == "The muscles of the larynx make a cat purr."
    assert bad == [(5, 'support_label: is "maybe"; expected FS, PS, NS, 2, 1, 0 or -1')]


def test_labels_of_argquality_are_those_of_workers_and_its_comparisons_are_votes(tmp_path: Path) -> None:
    found, bad = rows("argquality.csv")
    assert len(found) == 16 + 15 + 16 + 1 + 16 + 1
    assert {"item": "arg1", "worker": "2", "dimension": "cogency", "label": "3"} in found
    assert bad == [(8, 'cogency: is "bad"; expected 1 (Low), 2 (Average) or 3 (High)')]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    assert len(ns.crowd_agreement(path).dimensions) == 16
    found, bad = rows("argquality_20.csv")
    assert [(row["system_a"], row["system_b"], row["winner"]) for row in found] == [
        ("D1/A1", "D1/A2", "a"), ("D1/A2", "D2/A1", "tie"), ("D2/A1", "D1/A1", "b"),
    ]  # fmt: skip
    assert [line for line, _ in bad] == [5, 6]


def test_runs_of_trec_become_a_battle_for_every_two_systems_with_numbered_citations() -> None:
    found = battles("trec_rag_2024.jsonl")
    pairs = {frozenset((battle.a.system, battle.b.system)) for battle, _ in found}
    assert len(found) == len(pairs) == 3
    base = next(
        answer for battle, _ in found for answer in (battle.a, battle.b) if answer.system == "north.base"
    )
    assert base.text == "Lightning heats the air. [1] The air expands and is heard. [1, 2]"
    assert urls(base)[1] == ("docid:msmarco_v2.1_doc_02_2#0_2", "msmarco_v2.1_doc_02_2#0_2")
    assert {battle.tags for battle, _ in found} == {("topic:2024-100001",)}
    problems = [(line.line, line.problems) for line in lines("trec_rag_2024.jsonl")[1]]
    assert problems == [
        (4, ("system 'south.rerank' answers topic '2024-100001' on line 2 already",)),
        (5, ("topic or metadata.narrative: is missing",)),
    ]
    [(narrative, _)] = battles("trec_rag_2025.jsonl")
    assert narrative.query.startswith("I would like to know")
    assert narrative.tags == ("topic:14",)


def test_documents_bring_the_texts_of_references(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text('{"docid": "msmarco_v2.1_doc_01_1#1_1", "text": "Air expands."}\n')
    good, bad = lines("trec_rag_2024.jsonl", documents=read_documents(path))
    assert len(good) == 1  # the other two answers cite no document
    assert any("1 of 2 documents are missing" in line.problems[0] for line in bad)
    (crowd,), _ = lines("crowdrag25.jsonl", documents={"d1": "Leaves."})
    assert crowd.reference == {"quality_overall": Vote.A, "coverage_deep": Vote.TIE}
    [(ragdoll, _)] = battles("ragdoll_answers.jsonl")
    base = ragdoll.a if ragdoll.a.system == "base" else ragdoll.b
    assert base.sources[0].text == "Air that lightning heats expands."


def test_ragelo_has_its_answers_queries_and_documents_in_one_folder(tmp_path: Path) -> None:
    for path in ("ragelo", "ragelo/answers.csv"):
        found = battles(path)
        assert [battle.query for battle, _ in found] == ["What is a B-tree?"] * 3
        first = next(answer for answer in (found[0][0].a, found[0][0].b) if answer.system == "agent_0")
        assert first.sources[0].text == "A B-tree keeps keys in order,\nin nodes of many keys."
    assert lines("ragelo")[1] == [BadLine(6, ("qid: 'q_9' is not in queries.csv",))]
    alone = tmp_path / "answers.csv"
    alone.write_text("qid,agent,answer\nq_1,x,yes\n")
    with pytest.raises(UnusableFile, match=r"queries\.csv: is missing"):
        list(read_battles(alone))


def test_verdicts_of_others_are_votes() -> None:
    good, bad = rows("ragelo_verdicts.csv")
    assert [row["winner"] for row in good] == ["a", "tie"]
    assert bad == [(6, "answer: is '?'; expected A, B or C")]
    good, bad = rows("ragdoll_judgments.jsonl")
    assert [(row["system_a"], row["winner"]) for row in good] == [
        ("deep", "b"),
        ("deep", "tie"),
        ("deep", None),
    ]
    assert bad == [(4, 'judge_verdict: is "C"; expected A, B or Tie')]
    good, bad = rows("votes.jsonl")
    assert [row["winner"] for row in good] == ["a", "b", None]
    assert [line for line, _ in bad] == [4]


def test_nuggets_labels_rankings_and_grades_are_read_as_rows() -> None:
    good, bad = rows("nuggetizer_pool.jsonl")
    assert good[0]["documents"][1] == {"docid": "doc-b", "text": "Sound travels 340 metres a second."}
    assert good[1] == {
        "qid": None,
        "query": "what causes thunder",
        "documents": [{"docid": None, "text": "Thunder is loud."}],
    }
    assert bad[0][1].startswith("candidates.0: is ")
    good, bad = rows("nuggetizer_nuggets.jsonl")
    assert [nugget["importance"] for nugget in good[0]["nuggets"]] == ["vital", "vital", "okay"]
    assert bad[0][1].startswith("nuggets.0: is ")
    assert rows("qrels.txt")[0][0] == {
        "query": "2024-100001",
        "document": "msmarco_v2.1_doc_01_1#1_1",
        "label": 3,
    }
    assert rows("run.txt")[1] == [(2, "rank: is 'x'; expected a number")]
    good, bad = rows("rubric_graded.jsonl")
    assert (good[0]["query"], good[0]["paragraph_id"], bad) == (
        "19",
        "p1",
        [(2, "1.0.paragraph_id: is missing")],
    )
    assert rows("rubric_questions.jsonl")[0][0]["text"] == "Which muscles make the sound?"


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ({"query": {"qid": "1", "text": "Why?"}}, "is queries: texts of queries, not battles"),
        (
            {"query": "Why?", "qid": "1", "nuggets": []},
            "is nuggetizer nuggets: nuggets of queries, not battles",
        ),
        (
            {"text": "Why?", "qid": "1", "docid": "d", "candidate_text": "So.", "nuggets": []},
            "is nuggetizer nugg",
        ),
        (
            {"query": "Why?", "candidates": [{"text": "So."}]},
            "is nuggetizer pool, or requests of umbrela: docum",
        ),
        ({"query": "Why?", "passage": "So.", "prompt": "…", "judgment": 3}, "which is no format of ours"),
    ],
)
def test_requests_and_replies_of_nuggetizer_and_umbrela_are_no_battles(
    row: dict[str, Any], title: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(json.dumps(row))
    with pytest.raises(UnusableFile, match=title):
        list(read_battles(path))
    if "no format" not in title:
        (line,) = read_lines(path, battles=False)
        assert isinstance(line, RowLine)


def test_what_holds_no_battles_says_what_it_is_and_what_reads_it(tmp_path: Path) -> None:
    with pytest.raises(
        UnusableFile, match=r"is TREC qrels: relevance labels, not battles; see `nuggetstream rubric`"
    ):
        list(read_battles(SAMPLES / "qrels.txt"))
    path = tmp_path / "people.csv"
    path.write_text("name,age\nAda,36\n")
    with pytest.raises(
        UnusableFile, match=r"is CSV with the columns name, age, which is no format of ours; see docs"
    ):
        list(read_battles(path))
    path.write_text('{"instruction": "Why?", "chosen": "x"}\n')
    with pytest.raises(
        UnusableFile, match="is JSONL with the columns instruction, chosen, which is no format"
    ):
        list(read_battles(path))
    path.write_bytes(b"PK\x03\x04...")
    with pytest.raises(UnusableFile, match="is a zip archive or a spreadsheet"):
        list(read_battles(path))
    path.write_text('{\n  "query": "Why?"\n}\n')
    with pytest.raises(UnusableFile, match="is one JSON object over several lines"):
        list(read_battles(path))
    with pytest.raises(UnusableFile, match="there is no format 'lmarena'; there are crowdrag25, results"):
        list(read_battles(SAMPLES / "qrels.txt", name="lmarena"))
    only = tmp_path / "one.jsonl"
    only.write_text((SAMPLES / "trec_rag_2025.jsonl").read_text().splitlines()[0])
    with pytest.raises(UnusableFile, match="holds answers of 'base' alone; a battle needs two"):
        list(read_battles(only))


def test_recorded_files_are_recognised_and_every_row_is_read(recorded_data: Path) -> None:
    documents = read_documents(recorded_data / "crowdrag25" / "documents.jsonl.gz")
    expected = {
        "crowdrag25/battles.jsonl.gz": ("crowdrag25", 791),
        "crowdrag25/documents.jsonl.gz": ("documents", 1300),
        "ragelo": ("ragelo", 150),
        "ragelo/pairwise_answers_evaluations.csv": ("ragelo-verdicts", 200),
        "llmfao/crowd-comparisons.csv": ("votes", 8931),
        "rubric/dl19-graded.jsonl.gz": ("rubric", 9260),
        "rubric/dl19-questions.jsonl.gz": ("rubric-bank", 430),
        "rubric/nist-2019qrels-pass.txt": ("qrels", 9260),
    }
    for name, (format_name, count) in expected.items():
        path = recorded_data / name
        read = [type(line) for line in read_lines(path, documents, battles=False)]
        assert (name, recognised(path)[0].name, len(read)) == (name, format_name, count)
        assert BadLine not in read


def test_a_folder_of_runs_is_read_as_one(tmp_path: Path) -> None:
    for index, line in enumerate((SAMPLES / "trec_rag_2025.jsonl").read_text().splitlines()):
        (tmp_path / f"run{index}.jsonl").write_text(line + "\n{\n")
    read = list(read_battles(tmp_path))
    assert [type(line) for line in read] == [BadLine, BadLine, BattleLine]
    assert isinstance(read[1], BadLine)
    assert read[1].problems[0].startswith("run1.jsonl: is not valid JSON")


def test_battles_of_ours_may_be_csv_and_results(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("query,model_a,response_a,model_b,response_b,winner,language\nWhy?,x,Yes,y,No,y,\n")
    [line] = read_battles(path)
    assert isinstance(line, BattleLine)
    assert line.submission.vote is Vote.B
    assert line.submission.language is None


def test_the_library_reads_battles_and_names_every_format() -> None:
    assert [type(line).__name__ for line in ns.read_battles(SAMPLES / "comparia.jsonl")] == [
        "BattleLine"
    ] * 3 + ["BadLine"]
    documented = (Path(__file__).parents[4] / "docs" / "formats.md").read_text("utf-8")
    for known in FORMATS:
        assert f"| `{known.name}` |" in documented
        assert known.holds == BATTLES or known.used_by
