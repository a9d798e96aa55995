"""`nuggetstream tournament` beside a model that counts its answers: played once, paid once, and written."""

import asyncio
import json
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from services.offline.answers import ParsedPrompt, answer
from services.offline.app import create_app
from services.offline.requests import ChatRequest
from services.offline.serve import running
from tests.e2e.command_line import nuggetstream, rows, strict, written
from tests.e2e.processes import clean_environment, run_command, run_here
from tests.forked import forked

TEXTS = {
    "moon": "The Moon raises two tidal bulges on the Earth, so most coasts see two high tides a day.",
    "spring": "Spring tides occur when Sun, Moon and Earth stand in one line at new and full moon.",
    "tea": "Green tea contains theanine, and theanine calms the people who drink it every morning.",
    "river": "A river rises in a spring on a mountain, and it carries its water down to the sea.",
}
QUERIES = {"tides": "Why are there two high tides a day?", "calm": "What calms people who drink tea?"}
PLAN = """\
documents = "documents.jsonl"
queries = "queries.jsonl"
qrels = "qrels.txt"
passages = 2

[agents.rag]
kind = "rag"
search = "words"

[agents.fusion]
kind = "rag_fusion"
search = "words"

[agents.ours]
kind = "recorded"
answers = "ours.jsonl"
"""
PRICES = "[models.m]\ninput = 1000\noutput = 2000\n"


def lines(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


@dataclass
class Model:
    """The offline model behind an endpoint, which counts its answers.

    Attributes:
        holding: Whether every request after the first answer waits.
        answered: Number of answers by task and prompt.
        reached: Set once a request waits.
        requests: Number of requests.
        chats: Number of those that ask for a reply at once.
    """

    holding: bool = False
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    requests: int = 0
    chats: int = 0
    app: ASGIApp = field(init=False)

    def __post_init__(self) -> None:
        self.app = create_app(None, reply_to=self.reply)

    def reply(self, chat: ChatRequest) -> BaseModel:
        self.answered[chat.task, chat.text] += 1
        return answer(chat.task, ParsedPrompt.read(chat.first_message("user"), None))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.requests += scope["type"] == "http"
        self.chats += scope["type"] == "http" and scope["path"].endswith("/chat/completions")
        if self.answered and self.holding:
            self.reached.set()
            await asyncio.sleep(60)
        await self.app(scope, receive, send)

    def tasks(self) -> Counter[str]:
        return Counter(task for task, _ in self.answered.elements())


class Study:
    """A plan with its files, and the command that plays it."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.folder, self.out = folder, folder / "out"
        written(folder, "documents.jsonl", lines(*({"docid": k, "text": v} for k, v in TEXTS.items())))
        written(folder, "queries.jsonl", lines(*({"id": k, "query": v} for k, v in QUERIES.items())))
        written(folder, "qrels.txt", "tides 0 moon 2\ntides 0 spring 1\ncalm 0 tea 2\n")
        ours = {"qid": "tides", "answer_text": "The Moon raises two bulges [1].", "references": ["moon"]}
        written(folder, "ours.jsonl", lines(ours))
        written(folder, "plan.toml", PLAN)
        prices = written(folder, "prices.toml", PRICES)
        model = {} if url is None else {"llm_api_key": "sk", "llm_base_url": url, "llm_model": "m"}
        self.environment = clean_environment(
            embedding_model="none", llm_prices=str(prices), llm_concurrency="2", **model
        )

    @property
    def arguments(self) -> list[str]:
        return ["tournament", "run", str(self.folder / "plan.toml"), "--out", str(self.out)]

    async def play(self, *options: str) -> str:
        code, output = await run_command(self.environment, *self.arguments, *options)
        assert code == 0, output
        return output

    async def has_stored(self, replies: int) -> None:
        """Return once so many replies are in the database."""
        async with asyncio.timeout(60):
            while self._stored() < replies:
                await asyncio.sleep(0.1)

    def _stored(self) -> int:
        with closing(sqlite3.connect(self.out / "state" / "nuggetstream.db")) as database:
            return int(database.execute("select count(*) from replies").fetchone()[0])

    def lines(self) -> dict[Path, list[bytes]]:
        """The lines of every file beside the state, sorted: answers are written as they come."""
        files = (
            path for path in self.out.rglob("*") if path.is_file() and self.out / "state" not in path.parents
        )
        return {path: sorted(path.read_bytes().splitlines()) for path in files}

    def agents(self) -> dict[str, Any]:
        return {each["agent"]: each for each in strict(self.out / "tournament.json")["agents"]}


@pytest.mark.slow
async def test_a_killed_tournament_goes_on_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    model = Model(holding=True)
    async with running(model) as url:
        study = Study(tmp_path, url)
        child = await forked(*study.arguments, environment=study.environment)
        await model.reached.wait()
        await study.has_stored(1)
        child.send_signal(signal.SIGKILL)
        await child.wait()
        assert model.answered
        model.holding = False
        output = await study.play()
        assert "scored 4 of 4 battles received" in output
        first = model.tasks()
        assert first["query_variations"] == len(QUERIES)
        assert len(QUERIES) <= first["answer"] <= 2 * len(QUERIES)  # equal passages are one prompt
    # The endpoint is gone. What it replied is recorded in the state, from which everything is written again.
    before = study.lines()
    for path in before:
        path.unlink()
    again = await study.play("--plain")
    assert study.lines() == before
    assert model.tasks() == first
    assert set(model.answered.values()) == {1}
    agents = study.agents()
    assert {name: (own["answers"], own["missing"]) for name, own in agents.items()} == {
        "rag": (2, 0),
        "fusion": (2, 0),
        "ours": (1, 1),
    }
    assert all(float(agents[name]["cost"]["amount"]) > 0 for name in ("rag", "fusion"))
    assert (agents["ours"]["calls"], agents["ours"]["cost"]) == (None, None)
    assert agents["ours"]["retrieval"] == {
        "queries": 1,
        "MRR@5, label 1": 1.0,
        "MRR@5, label 2": 1.0,
        "nDCG@10": pytest.approx(2 / (2 + 0.63093), abs=1e-4),
    }
    assert "\nours\t1\t1\t\t\t\t\t\n" in again
    missing = strict(study.out / "unanswered.jsonl")  # one line
    assert (missing["agent"], missing["query"]) == ("ours", "calm")


async def test_answers_and_battles_wait_for_batches_at_half_the_price(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Study(tmp_path, url)
        output = await study.play("--batch")
        asked = model.tasks()
        assert "scored 4 of 4 battles received" in await study.play("--batch")
    assert "scored 4 of 4 battles received" in output
    assert (model.chats, model.tasks()) == (0, asked)
    assert not list((study.out / "state" / "batches").glob("*.json"))
    rag = study.agents()["rag"]
    full = (1000 * rag["input_tokens"] + 2000 * rag["output_tokens"]) / 1_000_000
    assert float(rag["cost"]["amount"]) == pytest.approx(full / 2)
    assert float(rag["alone"]["amount"]) == pytest.approx(full)
    fusion = study.agents()["fusion"]
    assert float(fusion["alone"]["amount"]) > full  # the variations, too


async def test_everything_that_is_promised_is_written_and_other_commands_read_it(tmp_path: Path) -> None:
    study = Study(tmp_path)
    output = await study.play("--json")
    content = json.loads(output[output.index("{\n") : output.rindex("}") + 1])
    assert content == strict(study.out / "tournament.json")
    assert {(row["lens"], row["system"], row["opponent"]) for row in rows(study.out / "pairs.csv")} == {
        (lens, *pair)
        for lens in ("nugget", "judge")
        for pair in (("fusion", "ours"), ("fusion", "rag"), ("ours", "rag"))
    }
    votes = rows(study.out / "votes.csv")
    assert len([vote for vote in votes if vote["lens"] == "judge"]) == 4
    first, *_ = (study.out / "runs" / "rag.run").read_text(encoding="utf-8").splitlines()
    assert first.split()[1:] == ["Q0", "moon" if first.startswith("tides") else "tea", "1", "1.000000", "rag"]
    summary = strict(study.out / "summary.json")
    assert (summary["received"], summary["scored"]) == (4, 4)
    results = study.out / "results.jsonl"
    code, output = await nuggetstream("report", results, "--out", tmp_path / "report")
    assert code == 0, output
    code, output = await nuggetstream("rate", study.out / "votes.csv", "--where", "lens=judge", "--plain")
    assert code == 0, output
    code, output = await nuggetstream("import", study.out / "answers", "--out", tmp_path / "battles")
    assert code == 0, output
    assert len((tmp_path / "battles" / "battles.jsonl").read_text(encoding="utf-8").splitlines()) == 4


async def test_more_queries_and_agents_add_to_a_tournament_and_other_settings_do_not(tmp_path: Path) -> None:
    study = Study(tmp_path)
    await study.play()
    before = (study.out / "answers" / "rag.jsonl").read_bytes()
    more = {"id": "river", "query": "Where does a river rise?"}
    with (tmp_path / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write(lines(more))
    written(tmp_path, "plan.toml", PLAN + '\n[agents.second]\nkind = "rag"\nsearch = "words"\n')
    await study.play()
    assert (study.out / "answers" / "rag.jsonl").read_bytes().startswith(before)
    assert {name: own["answers"] for name, own in study.agents().items()} == {
        "rag": 3, "fusion": 3, "ours": 1, "second": 3,
    }  # fmt: skip
    (fusion,) = (part for part in PLAN.split("\n\n") if "rag_fusion" in part)
    written(tmp_path, "plan.toml", PLAN.replace(fusion, ""))
    await study.play()  # with one agent less, of which the state still has the battles
    summary = strict(study.out / "summary.json")
    boards = {board["lens"]: board for board in summary["leaderboards"]}
    assert {row["system"]: row["battles"] for row in boards["judge"]["standings"]} == {"rag": 1, "ours": 1}
    assert {board["received"] for board in boards.values()} == {summary["received"]} == {1}
    assert "fusion" not in (study.out / "summary.txt").read_text(encoding="utf-8")
    assert not (study.out / "runs" / "fusion.run").exists()
    written(tmp_path, "plan.toml", PLAN.replace("passages = 2", "passages = 1"))
    code, output = await run_command(study.environment, *study.arguments)
    assert code == 2
    assert "choose another folder with --out" in output


async def test_a_system_of_ones_own_is_asked_once_per_query(tmp_path: Path) -> None:
    asked = list[tuple[str, str | None]]()

    async def complete(request: Request) -> JSONResponse:
        query = (await request.json())["messages"][0]["content"]
        asked.append((query, request.headers.get("authorization")))
        message = {"content": f"{TEXTS['moon']} [1]", "sources": [{"docid": "moon", "text": TEXTS["moon"]}]}
        return JSONResponse({"model": "own-1", "choices": [{"message": message}]})

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    async with running(app) as url:
        study = Study(tmp_path)
        own = f'[agents.own]\nkind = "http"\nurl = "{url}"\nmodel = "own"\nkey_variable = "OWN_KEY"\n'
        written(tmp_path, "plan.toml", PLAN[: PLAN.index("[agents.fusion]")] + own)
        code, output = await run_command(study.environment, *study.arguments)
        assert code == 1
        assert "agents.own.key_variable: OWN_KEY is not set" in output
        study.environment["OWN_KEY"] = "secret"
        assert "2 calls of a system of its own" in await study.play("--dry-run")
        assert not asked
        await study.play()
        await study.play()
    assert sorted(asked) == sorted((query, "Bearer secret") for query in QUERIES.values())
    assert study.agents()["own"]["retrieval"]["MRR@5, label 2"] == 0.5
    assert "secret" not in "".join(path.read_text("utf-8") for path in study.out.iterdir() if path.is_file())


async def test_a_dry_run_asks_nobody_and_writes_nothing(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Study(tmp_path, url)
        files = set(tmp_path.rglob("*"))
        output = await study.play("--dry-run")
        assert set(tmp_path.rglob("*")) == files
        assert model.requests == 0
    assert "6 answers to get, 0 of 6 are stored" in output
    assert "6 battles if every agent answers every query" in output
    calls = {
        row.split()[0]: row.split()[1]
        for row in output.splitlines()
        if row.split()[1:2] and row.split()[1].isdigit()
    }
    assert calls["agent"] == "6"  # four answers, and the variations of two queries
    assert calls["judge"] == "6"  # equal answers are equal prompts
    assert "Cost with m: " in output


def test_a_bad_plan_is_one_error_with_exit_code_2(tmp_path: Path) -> None:
    study = Study(tmp_path)
    written(tmp_path, "plan.toml", PLAN.replace('"words"', '"meaning"'))
    code, output = run_here(*study.arguments)
    assert code == 2
    assert output == (
        f"Error: {tmp_path / 'plan.toml'}:8: agents.rag.search: "
        "Input should be 'words', 'vectors' or 'hybrid'\n"
    )
    assert not study.out.exists()


async def test_a_search_by_vectors_without_a_model_says_what_to_do(tmp_path: Path) -> None:
    study = Study(tmp_path)
    written(tmp_path, "plan.toml", PLAN.replace('"words"', '"hybrid"'))
    code, output = await run_command(study.environment, *study.arguments)
    assert code == 1
    assert "there is no embedding model" in output
    assert "let all agents search by words" in output


def test_the_demo_plays_and_says_where_to_look(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    environment = {"NUGGETSTREAM_EMBEDDING_MODEL": "none"}
    code, output = run_here("tournament", "demo", "--out", str(out), environment=environment)
    assert code == 0, output
    assert "2 agents, 8 queries" in output
    assert "scored 8 of 8 battles received" in output
    assert f"nuggetstream report {out / 'results.jsonl'}" in output
    agents = {each["agent"]: each for each in strict(out / "tournament.json")["agents"]}
    assert {own["answers"] for own in agents.values()} == {8}
    assert all(own["retrieval"]["MRR@5, label 1"] > 0.5 for own in agents.values())


async def test_informative_pairs_experts_and_the_tables_of_the_paper(tmp_path: Path) -> None:
    study = Study(tmp_path)
    more = 'experts = "experts.csv"\npairs = "informative"\nbudget = 4\n'
    written(tmp_path, "plan.toml", more + PLAN)
    grades = [
        f"{query},{agent},relevance,{n}" for n, query in enumerate(QUERIES) for agent in ("rag", "fusion")
    ]
    written(
        tmp_path,
        "experts.csv",
        "\n".join(["query,agent,criterion,grade", *grades, "tides,ours,tone,1"]) + "\n",
    )
    study.environment |= {"NUGGETSTREAM_EVALUATORS": "answer_quality"}
    output = await study.play()
    assert "3 battles so far; 1 more, the most informative ones" in output
    assert "Evaluators and experts" in output
    [row] = strict(study.out / "tournament.json")["experts"]
    assert (row["evaluator"], row["criterion"], row["answers"]) == ("answer_quality", "relevance", 4)
    code, said = await nuggetstream("report", study.out / "results.jsonl", "--out", tmp_path / "report")
    assert code == 0, said
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "answer_quality, relevance: 4 answers" in page  # Bland and Altman's plot
    assert "no evaluator graded tone" in page
    grades_of_both = strict(tmp_path / "report" / "report.json")["numbers"]["experts"]["expert_grades"]
    assert sorted(each["expert_grade"] for each in grades_of_both) == [0.0, 0.0, 1.0, 1.0]
    chosen = (study.out / "chosen.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(chosen) == len(set(chosen)) == 4
    battles = (study.out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(battles) == 4
    assert [each["row_agent"] for each in rows(study.out / "win_percent.csv")] == ["rag", "fusion", "ours"]
    assert len(rows(study.out / "elo.csv")) == 3
    assert "so far" not in await study.play()  # the budget is spent
    assert len((study.out / "chosen.jsonl").read_text(encoding="utf-8").splitlines()) == 4
