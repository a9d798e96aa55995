"""The agents of tournaments: what they search for, what they ask, and what they answer."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import openai
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nuggetstream.files.opening import UnusableFile
from services.cli.tournament.agents import Asked, SearchingAgent
from services.cli.tournament.collection import Collection
from services.cli.tournament.command_agent import CommandAgent
from services.cli.tournament.http_agent import HttpAgent
from services.cli.tournament.plan import Search
from services.cli.tournament.prompts import answer_prompt
from services.cli.tournament.recorded import read_recorded
from services.offline.answers import ParsedPrompt, answer
from services.retriever.variations import QueryVariations
from services.runtime.errors import ModelOutage, Permanent
from services.runtime.llm.build import with_asgi
from services.runtime.llm.exchange import Exchange
from services.runtime.llm.query_replies import VariationsReply
from services.runtime.llm.replies import AnswerReply
from services.runtime.llm.retries import RetryPolicy
from tests.fakes import ScriptedModel, WordVectors, blocks

TEXTS = {
    "tea": "Green tea calms people because it contains theanine.",
    "coffee": "Coffee keeps people awake because it contains caffeine.",
    "moon": "The moon pulls the sea, and the sea rises twice a day.",
}
ASKED = Asked("q1", "what calms people", "booked")


async def collection(*, vectors: bool = False, size: int = 10) -> Collection:
    return await Collection.of(TEXTS, size, 0, WordVectors() if vectors else None)


def scripted(text: str = "Tea [1].", *searches: str) -> ScriptedModel:
    return ScriptedModel(
        {
            "answer": lambda _: AnswerReply(answer=text),
            "query_variations": lambda _: VariationsReply(searches=list(searches)),
        }
    )


def agent(documents: Collection, model: ScriptedModel, by: Search, **more: Any) -> SearchingAgent:
    given = {"variations": None, "passages": 2, "sentences": 3} | more
    return SearchingAgent(collection=documents, by=by, model=model, **given)


async def test_rag_shows_the_best_passages_and_ranks_documents() -> None:
    model = scripted(" Tea [1]. ")
    found = await agent(await collection(), model, "words").answer(ASKED)
    [prompt] = model.asked
    assert [block.text for block in blocks(prompt, "chunk")] == [TEXTS["tea"], TEXTS["coffee"]]
    assert [block.text for block in blocks(prompt, "query")] == ["what calms people"]
    assert (found.text, found.references, found.ranking) == ("Tea [1].", ("tea", "coffee"), ("tea", "coffee"))
    assert found.texts == {name: TEXTS[name] for name in ("tea", "coffee")}
    assert (found.model, found.tokens) == ("scripted-2026", (1, 1))
    assert model.battles == ["booked"]


async def test_rag_fusion_finds_what_the_variations_of_the_query_find() -> None:
    model = scripted("The moon [1].", "why does the sea rise", "theanine in green tea")
    documents = await collection()
    fusion = agent(documents, model, "words", variations=QueryVariations(model, 4), passages=3)
    found = await fusion.answer(ASKED)
    assert model.tasks() == ["query_variations", "answer"]
    # Ranks by the query, by the sea, by theanine: tea 1, -, 1; coffee 2, -, -; moon -, 1, -.
    assert found.ranking == ("tea", "moon", "coffee")
    assert found.references == ("tea", "moon", "coffee")


async def test_a_search_by_vectors_alone_ranks_documents_without_a_common_term() -> None:
    documents = await collection(vectors=True)
    by_vectors = await documents.search(["what calms people"], "vectors", 3)
    assert len(by_vectors) == 3
    assert [passage.document for passage in await documents.search(["theanine"], "words", 3)] == ["tea"]
    assert len(await documents.search(["theanine"], "hybrid", 3)) == 3


async def test_a_search_by_vectors_without_a_model_is_an_error() -> None:
    with pytest.raises(ValueError, match="needs an embedding model"):
        await (await collection()).search(["tea"], "hybrid", 3)


async def test_long_documents_are_passages_with_numbers_and_equal_documents_stay_apart() -> None:
    texts = {
        "long": "Tea is a drink. Coffee is another drink.",
        "one": "Tea is a drink.",
        "two": "Tea is a drink.",
    }
    documents = await Collection.of(texts, 1, 0, None)
    assert sorted(documents.passages) == ["long#1", "long#2", "one", "two"]
    assert documents.passages["long#2"].document == "long"
    assert documents.passages["long#2"].text == "Coffee is another drink."
    assert {passage.document for passage in await documents.search(["tea"], "words", 9)} == {
        "long",
        "one",
        "two",
    }


async def test_the_key_follows_documents_search_model_and_settings() -> None:
    documents, model = await collection(), scripted()
    keys = {
        agent(documents, model, "words").key_of("q1"),
        agent(documents, model, "hybrid").key_of("q1"),
        agent(documents, model, "words", passages=3).key_of("q1"),
        agent(documents, model, "words", sentences=4).key_of("q1"),
        agent(documents, model, "words", prompts="own").key_of("q1"),
        agent(documents, model, "words", variations=QueryVariations(model, 2)).key_of("q1"),
        agent(documents, ScriptedModel({}, name="other"), "words").key_of("q1"),
        agent(await collection(size=1), model, "words").key_of("q1"),
    }
    assert len(keys) == 8
    assert agent(await collection(), model, "words").key_of("q2") in keys


def test_the_offline_model_answers_with_sentences_and_the_numbers_of_their_passages() -> None:
    prompt = answer_prompt("Why does green tea calm people?", list(TEXTS.values()), 1)
    read = ParsedPrompt.read(prompt.messages()[1]["content"], None)
    assert read.limit == 1
    assert answer("answer", read) == AnswerReply(answer=f"{TEXTS['tea']} [1]")


def test_the_offline_model_says_where_no_passage_was_found() -> None:
    read = ParsedPrompt.read(answer_prompt("Why?", [], 2).messages()[1]["content"], None)
    assert answer("answer", read) == AnswerReply(answer="The passages do not answer this.")


def test_an_empty_answer_is_not_used() -> None:
    check = answer_prompt("Why?", ["Tea."], 2).check
    assert check is not None
    with pytest.raises(ValueError, match="is empty"):
        check(AnswerReply(answer=" \n"))


def recorded(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "ours.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


async def test_recorded_answers_have_the_texts_of_the_documents_that_they_cite(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {"qid": "q1", "answer_text": "Tea [1].", "references": ["tea", "lost"]},
        {"topic_id": "q2", "answer": [{"text": "The moon.", "citations": [0]}], "references": ["moon"]},
        {"qid": "other", "answer_text": "It is not asked."},
        {"qid": "q3", "answer_text": "  "},
    )
    ours = read_recorded(path, dict.fromkeys(("q1", "q2", "q3", "q4"), "Why?"), TEXTS)
    first, second = [await ours.answer(Asked(name, "Why?", "")) for name in ("q1", "q2")]
    assert (first.text, first.references, first.texts) == ("Tea [1].", ("tea", "lost"), {"tea": TEXTS["tea"]})
    assert (second.text, second.ranking) == ("The moon. [1]", ("moon",))
    with pytest.raises(Permanent, match="the answer is empty"):
        await ours.answer(Asked("q3", "Why?", ""))
    with pytest.raises(Permanent, match="does not answer it"):
        await ours.answer(Asked("q4", "Why?", ""))
    assert ours.key_of("q1") != ours.key_of("q2")


def test_a_recorded_row_without_a_query_is_named_with_its_line(tmp_path: Path) -> None:
    path = recorded(tmp_path, {"qid": "q1", "answer_text": "Tea."}, {"answer_text": "Tea."})
    with pytest.raises(UnusableFile, match=r"ours\.jsonl:2: topic_id"):
        read_recorded(path, {"q1": "Why?"}, {})
    path = recorded(tmp_path, *[{"qid": "q1", "answer_text": "Tea."}] * 2)
    with pytest.raises(UnusableFile, match="answered twice; one file is one agent"):
        read_recorded(path, {"q1": "Why?"}, {})


def system(*replies: Response) -> tuple[HttpAgent, list[dict[str, Any]]]:
    """An agent whose system gives these replies, the last one again and again, and what it was sent."""
    waiting, sent = list(replies), list[dict[str, Any]]()

    async def complete(request: Request) -> Response:
        sent.append(await request.json())
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    client = openai.AsyncOpenAI(
        api_key="none", base_url="http://own.invalid/v1", max_retries=0, http_client=with_asgi(app)
    )
    retries = RetryPolicy(attempts=2, base_s=0.0)
    return HttpAgent(exchange=Exchange(client, 5.0), model="own", retries=retries, patience_s=9.0), sent


def completion(text: Any, **more: Any) -> JSONResponse:
    return JSONResponse({"model": "own-1", "choices": [{"message": {"content": text}}]} | more)


async def test_a_system_is_asked_the_query_and_tells_its_sources() -> None:
    sources = [{"url": "https://a.example/", "text": "A."}, {"docid": "d2"}, {"page": 3}]
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    own, sent = system(completion("So [1].", sources=sources, usage=usage))
    found = await own.answer(ASKED)
    assert sent == [{"model": "own", "messages": [{"role": "user", "content": "what calms people"}]}]
    assert (found.text, found.references) == ("So [1].", ("https://a.example/", "d2"))
    assert (found.texts, found.model, found.tokens) == ({"https://a.example/": "A."}, "own-1", (7, 2))


async def test_a_system_is_asked_again_and_its_citations_may_be_urls() -> None:
    own, sent = system(JSONResponse({}, 500), completion("So.", citations=["https://a.example/"]))
    found = await own.answer(ASKED)
    assert len(sent) == 2
    assert (found.references, found.texts, found.tokens) == (("https://a.example/",), {}, None)


async def test_a_system_that_is_away_is_waited_for_and_a_bad_reply_is_no_answer() -> None:
    own, sent = system(JSONResponse({}, 503))
    with pytest.raises(ModelOutage) as away:
        await own.answer(ASKED)
    assert (len(sent), away.value.patience) == (2, 9.0)
    for reply in (completion(None), completion(" "), JSONResponse([]), Response("no JSON")):
        own, _ = system(reply)
        with pytest.raises(Permanent, match="no chat completion with a text"):
            await own.answer(ASKED)


TELLING = "import json, sys; print(json.dumps({'answer': sys.stdin.read(), 'sources': ['d1']}))"


def program(code: str, folder: Path, timeout_s: float = 30.0) -> CommandAgent:
    return CommandAgent((sys.executable, "-c", code), folder, timeout_s, asyncio.Semaphore(1))


@pytest.mark.parametrize(
    ("code", "said"), [("print('Two. [1]')", ("Two. [1]", ())), (TELLING, ("what calms people", ("d1",)))]
)
async def test_a_program_answers_on_its_output(code: str, said: tuple[Any, ...], tmp_path: Path) -> None:
    found = await program(code, tmp_path).answer(ASKED)
    assert (found.text, found.references) == said


@pytest.mark.parametrize(
    ("code", "timeout_s", "said"),
    [
        ("print()", 30.0, "the command gave no text"),
        ("import sys; sys.exit(3)", 30.0, "the command ended with exit code 3"),
        ("import time; time.sleep(60)", 0.2, "no answer within 0.2 seconds"),
    ],
)
async def test_a_program_without_an_answer_says_why(
    code: str, timeout_s: float, said: str, tmp_path: Path
) -> None:
    with pytest.raises(Permanent, match=said):
        await program(code, tmp_path, timeout_s).answer(ASKED)


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    agent = CommandAgent(("./none",), tmp_path, 1.0, asyncio.Semaphore(1))
    with pytest.raises(Permanent, match="the command cannot be run: No such file"):
        await agent.answer(ASKED)
