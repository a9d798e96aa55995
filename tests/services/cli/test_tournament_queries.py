"""Queries that a model makes from documents: cuts, different and answered ones, and provenance."""

import asyncio
import json
from pathlib import Path

from nuggetstream.files.queries import read_queries
from services.cli.tournament.queries import QueryRun, Wanted
from services.cli.tournament.query_cuts import Cut, MadeQuery, cuts_of, different, drawn_cuts, drawn_queries
from services.cli.tournament.query_prompts import queries_prompt
from services.offline.answers import ParsedPrompt, answer
from services.runtime.llm.query_replies import AnsweredQueriesReply, QueriesReply
from services.runtime.llm.settings import LLMSettings
from tests.e2e.processes import run_here
from tests.fakes import ScriptedModel, blocks

TEXTS = {
    f"d{number}": " ".join(
        f"Number {number} {word} the harbour {place} very slowly."
        for word in ("reaches", "surrounds", "protects")
        for place in ("yesterday", "tomorrow")
    )
    for number in range(4)
}


def wanted(*examples: str) -> Wanted:
    return Wanted(number=4, per_cut=2, held_back=0.0, examples=examples, seed=1, models=[LLMSettings()])


def made(*texts: str, document: str = "d") -> list[MadeQuery]:
    return [MadeQuery(text, document, 1, "m") for text in texts]


def test_cuts_have_whole_sentences_and_about_as_many_tokens_as_asked() -> None:
    text = "The tide rises. " * 1000  # 16,000 bytes
    cuts = cuts_of("d", text)
    assert [cut.number for cut in cuts] == [1, 2]
    assert all(7_900 <= len(cut.text) <= 8_000 for cut in cuts[:-1])
    assert " ".join(cut.text for cut in cuts) == text.strip()


def test_every_document_has_a_cut_where_there_are_as_many_as_queries() -> None:
    texts = {"long": "The tide rises. " * 3000} | dict.fromkeys(("a", "b", "c"), "Short.")
    drawn = drawn_cuts(texts, 4, 10, seed=3)
    assert {cut.document for cut in drawn} == set(texts)
    assert drawn == drawn_cuts(texts, 4, 10, seed=3)
    assert len(drawn_cuts(texts, 1000, 10, seed=3)) == 3 + len(cuts_of("long", texts["long"]))


def test_queries_with_nearly_the_same_words_are_one() -> None:
    queries = made(
        "Why does the green tea calm people?", "Why does green tea calm the people", "Why does tea grow?"
    )
    assert [query.text for query in different(queries)] == [queries[0].text, queries[2].text]


def test_kept_queries_come_from_all_documents_and_a_share_is_held_back() -> None:
    many = made(*(f"How is part {number} made?" for number in range(20)), document="a")
    public, hidden = drawn_queries([*many, *made("Why?", document="b")], 4, 0.5, seed=1)
    assert (len(public), len(hidden)) == (2, 2)
    assert "b" in {query.document for query in (*public, *hidden)}
    assert not {query.id for query in public} & {query.id for query in hidden}


async def test_what_the_cut_does_not_answer_is_left_out_and_models_take_turns() -> None:
    script = {
        "collection_queries": lambda _: QueriesReply(queries=["Why?", "Who?"]),
        "queries_answered": lambda _: AnsweredQueriesReply(answered=["q2"]),
    }
    models = [ScriptedModel(script, name) for name in ("x", "y")]
    run = QueryRun(models=models, wanted=wanted("Wherefore?"), stop=asyncio.Event())
    assert await run.run([Cut("d", 1, "Text."), Cut("e", 1, "Text.")], window=1)
    assert [(q.text, q.document) for n in (0, 1) for q in run.made[n]] == [("Who?", "d"), ("Who?", "e")]
    assert run.rejected == 2
    for each in models:
        assert each.tasks() == ["collection_queries", "queries_answered"]
        assert [block.text for block in blocks(each.asked[0], "example")] == ["Wherefore?"]
    assert [run.made[number][0].model for number in (0, 1)] == ["x-2026", "y-2026"]


def test_the_offline_model_writes_queries_that_it_finds_answered() -> None:
    text = "Salt marshes protect harbours against violent storms. Yes."
    [message] = [m for m in queries_prompt(text, (), 5).messages() if m["role"] == "user"]
    reply = answer("collection_queries", ParsedPrompt.read(message["content"], None))
    assert reply.model_dump() == {"queries": ["What is said about marshes protect harbours against?"]}


def test_the_command_writes_a_file_that_a_tournament_reads(tmp_path: Path) -> None:
    documents = tmp_path / "documents.jsonl"
    lines = (json.dumps({"docid": name, "text": text}) for name, text in TEXTS.items())
    documents.write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "queries.jsonl"
    command = ("tournament", "queries", str(documents), "--number", "4", "--out", str(out))
    code, output = run_here(*command, "--dry-run")
    assert code == 0, output
    assert "together" in output
    assert not list(tmp_path.glob("queries*"))
    code, output = run_here(*command, "--hold-back", "0.25")
    assert code == 0, output
    assert "4 kept, 1 of them held back" in output
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(read_queries(out)) == len(rows) == 3
    assert len(read_queries(tmp_path / "queries.held-back.jsonl")) == 1
    assert {tuple(row) for row in rows} == {("id", "query", "document", "cut", "model")}
    assert {row["model"] for row in rows} == {"offline-heuristic"}
    assert all(row["document"] in TEXTS for row in rows)
    code, output = run_here(*command)
    assert code == 2
    assert "is there already" in output
    code, output = run_here(*command[:-1], str(tmp_path / "other.jsonl"), "--model", "x")
    assert code == 2
    assert "--model needs an endpoint" in output
