"""`nuggetstream rubric grade` beside a model that counts its calls: paid once, and missing is never zero."""

import asyncio
import json
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from starlette.types import ASGIApp, Receive, Scope, Send

from nuggetstream.files.rubric import read_graded, read_query_banks
from services.judge.registry import heuristics
from services.offline.answers import ParsedPrompt, answer
from services.offline.app import create_app
from services.offline.faults import Faults
from services.offline.requests import ChatRequest
from services.offline.serve import running
from tests.e2e.command_line import nuggetstream, written
from tests.e2e.processes import clean_environment, run_command, run_here
from tests.forked import forked

REEF = "tides Q0 p1 1 2.0 reef\ntides Q0 p2 2 1.0 reef\nrivers Q0 p4 1 1.0 reef\n"
KELP = "tides Q0 p3 1 2.0 kelp\ntides Q0 p1 2 1.0 kelp\nrivers Q0 lost 1 1.0 kelp\n"
TEXTS = {
    "p1": "Tides are caused because the moon pulls the sea.",
    "p2": "There are two tides in 24 hours.",
    "p3": "A brand of soap.",
    "p4": "Rivers rise in springs.",
}
QUERIES = {"tides": "what causes tides", "rivers": "where do rivers rise"}
ITEMS = {
    "tides": {"t/moon": "Which body pulls the sea?", "t/number": "Which number is given: what causes tides"},
    "rivers": {"r/source": "Where do rivers rise?"},
}


def bank_line(query: str) -> str:
    items = [{"question_id": name, "question_text": text} for name, text in ITEMS[query].items()]
    return json.dumps({"query_id": query, "query_text": QUERIES[query], "items": items}) + "\n"


@dataclass
class Model:
    """The offline model behind an endpoint, which counts what it answers.

    Attributes:
        unusable: A text about which it writes nonsense; None for none.
        asked: Number of answers, by task and prompt.
        paths: Number of requests, by method and path.
    """

    faults: Faults = field(default_factory=Faults)
    unusable: str | None = None
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    app: ASGIApp = field(init=False)

    def __post_init__(self) -> None:
        self.app = create_app(None, self.faults, heuristics, reply_to=self.reply)

    def reply(self, chat: ChatRequest) -> BaseModel | str:
        self.asked[chat.task, chat.text] += 1
        if self.unusable is not None and self.unusable in chat.text:
            return "no grades today"
        return answer(chat.task, ParsedPrompt.read(chat.first_message("user"), None), heuristics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.paths[f"{scope['method']} {scope['path']}"] += 1
        await self.app(scope, receive, send)


class Study:
    """Two runs, their documents, a bank, and the command that grades them."""

    def __init__(self, folder: Path, url: str, **settings: str) -> None:
        self.folder, self.out = folder, folder / "out"
        written(folder, "reef.run", REEF)
        written(folder, "kelp.run", KELP)
        rows = [json.dumps({"docid": name, "text": text}) for name, text in TEXTS.items()]
        written(folder, "documents.jsonl", "\n".join(rows))
        written(folder, "bank.jsonl", "".join(map(bank_line, ITEMS)))
        written(folder, "queries.tsv", "".join(f"{name}\t{text}\n" for name, text in QUERIES.items()))
        settings = {"llm_api_key": "sk-test", "llm_base_url": url, "llm_model": "m"} | settings
        self.environment = clean_environment(**settings)

    def arguments(self, *options: str, runs: tuple[str, ...] = ("reef.run", "kelp.run")) -> list[str]:
        files = [str(self.folder / name) for name in runs]
        bank = [] if "--direct" in options or "--bank" in options else ["--bank", self.path("bank.jsonl")]
        documents = ["--documents", self.path("documents.jsonl")]
        return ["rubric", "grade", *files, *documents, *bank, "--out", str(self.out), *options]

    def path(self, name: str) -> str:
        return str(self.folder / name)

    async def grade(self, *options: str, **more: Any) -> str:
        code, output = await run_command(self.environment, *self.arguments(*options, **more))
        assert code == 0, output
        return output

    def grades(self, prompt_class: str | None = None) -> dict[str, dict[str, int]]:
        graded = read_graded(self.out / "graded.jsonl", prompt_class)
        return {passage.passage: dict(passage.grades) for passage in graded}

    def ungraded(self) -> dict[str, str]:
        rows = (self.out / "ungraded.jsonl").read_text(encoding="utf-8").splitlines()
        return {row["passage"]: row["reason"] for row in map(json.loads, rows)}


async def test_each_passage_is_paid_for_once_however_often_and_deep_it_is_graded(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Study(tmp_path, url)
        assert "2 of 2 passages graded, with 2 calls" in await study.grade("--depth", "1", runs=("reef.run",))
        assert "3 of 3 passages graded, with 1 call" in await study.grade(runs=("reef.run",))
        output = await study.grade()
        assert "4 of 5 passages graded, with 1 call" in output  # p1 and p2 are graded, p3 is new
        assert "1 no_text; the first, lost of query rivers: it has no text" in output
        assert "with 0 calls" in await study.grade()
    assert set(model.asked.values()) == {1}
    assert {task for task, _ in model.asked} == {"rubric"}
    assert study.grades() == {
        "p1": {"t/moon": 5, "t/number": 0},
        "p2": {"t/moon": 0, "t/number": 4},
        "p3": {"t/moon": 0, "t/number": 0},
        "p4": {"r/source": 5},
        "lost": {},
    }
    first = read_graded(study.out / "graded.jsonl")[0]
    assert (first.ranks, first.text) == ({"reef": 1, "kelp": 2}, TEXTS["p1"])
    assert first.replies["t/moon"] == TEXTS["p1"]
    code, output = await nuggetstream("rubric", "cover", study.out / "graded.jsonl", "--plain")
    assert code == 0, output
    assert "\nreef\t1.0" in output
    assert "1 passage without a grade" in output


async def test_an_unusable_reply_is_missing_with_its_reason_and_asked_again(tmp_path: Path) -> None:
    model = Model(unusable=TEXTS["p3"])
    async with running(model) as url:
        study = Study(tmp_path, url)
        assert "1 no_text, 1 reply_unusable" in await study.grade()
        assert study.ungraded() == {"lost": "no_text", "p3": "reply_unusable"}
        assert study.grades()["p3"] == {}
        model.unusable = None
        asked = model.asked.total()
        await study.grade()
        assert model.asked.total() == asked + 1
    assert study.ungraded() == {"lost": "no_text"}
    assert study.grades()["p3"] == {"t/moon": 0, "t/number": 0}


async def test_a_dry_run_asks_nobody_writes_nothing_and_counts_every_call(tmp_path: Path) -> None:
    model = Model()
    written(tmp_path, "prices.toml", "[models.m]\ninput = 1000\noutput = 2000\n")
    async with running(model) as url:
        study = Study(tmp_path, url, llm_prices=str(tmp_path / "prices.toml"))
        output = await study.grade("--dry-run", "--bank", "make", "--queries", study.path("queries.tsv"))
        assert model.paths.total() == 0
        assert not study.out.exists()
        rows = {name: fields for name, *fields in map(str.split, output.splitlines()) if name == "together"}
        calls, tokens_in, tokens_out = (int(number.replace(",", "")) for number in rows["together"])
        assert calls == 4 + len(QUERIES)
        assert f"Cost with m: {(tokens_in + 2 * tokens_out) / 1000:.2f} USD" in output
        await study.grade("--bank", "make", "--queries", study.path("queries.tsv"))
    assert model.asked.total() == calls


async def test_of_an_edited_bank_only_what_the_edit_touches_is_asked(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Study(tmp_path, url)
        await study.grade()
        before = model.asked.copy()
        edited = (
            bank_line("tides").replace("Which body pulls", "Which star pulls").replace("t/moon", "t/star")
        )
        written(tmp_path, "bank.jsonl", edited + bank_line("rivers"))
        assert "1 of 4 passages need no call: the replies are kept." in await study.grade("--dry-run")
        assert "4 of 5 passages graded, with 3 calls" in await study.grade()
        new = model.asked - before
        assert new.total() == 3
        for _, text in new:
            assert "Which star pulls" in text
            assert "Which number is given" not in text
        after = study.grades()
        assert (after["p2"], after["p4"]) == ({"t/star": 0, "t/number": 4}, {"r/source": 5})
        written(tmp_path, "bank.jsonl", bank_line("tides"))  # the old question is back
        assert "with 0 calls" in await study.grade()
        one = json.loads(edited)
        written(tmp_path, "bank.jsonl", json.dumps(one | {"items": one["items"][:1]}) + "\n")
        assert "with 0 calls" in await study.grade()  # and a question less asks nobody
        assert study.grades()["p2"] == {"t/star": 0}
        verified = await study.grade("--dry-run", "--verify")
        assert "2 of 3 passages need no call" in verified
        assert "with 1 call" in await study.grade("--verify")
        assert "3 of 3 passages need no call" in await study.grade("--dry-run", "--verify")


async def test_a_dry_run_subtracts_kept_replies_also_of_questions_and_of_styles(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Study(tmp_path, url)
        made = ("--bank", "make", "--number", "3", "--queries", study.path("queries.tsv"))
        await study.grade(*made, "--depth", "1")
        asked = model.asked.total()
        rows = {row.split()[0]: row.split() for row in (await study.grade(*made, "--dry-run")).splitlines()}
        assert rows["grades"][1] == "1"
        assert "questions" not in rows
        await study.grade(*made)
        assert model.asked.total() == asked + 1
        direct = ("--direct", "--queries", study.path("queries.tsv"))
        await study.grade(*direct, "--depth", "1")
        assert "3 of 4 passages need no call" in await study.grade(*direct, "--dry-run")


async def test_questions_are_made_once_per_query_and_written_as_a_bank(tmp_path: Path) -> None:
    model = Model()
    made = ("--bank", "make", "--number", "3", "--items", "nuggets")
    async with running(model) as url:
        study = Study(tmp_path, url)
        await study.grade(*made, "--queries", study.path("queries.tsv"), "--depth", "1")
        await study.grade(*made, "--queries", study.path("queries.tsv"))
        banks = read_query_banks(study.out / "bank.jsonl")
        assert {query: (bank.text, len(bank.items)) for query, bank in banks.items()} == {
            query: (text, 3) for query, text in QUERIES.items()
        }
        of_tides = {item.id for item in banks["tides"].items}
        assert all(name.startswith("tides/") for name in of_tides)
        assert set(study.grades()["p1"]) == of_tides
        before = model.asked.total()
        await study.grade("--bank", str(study.out / "bank.jsonl"))
    assert model.asked.total() == before  # the same questions are asked in the same words
    assert Counter(task for task, _ in model.asked) == {"rubric_nuggets": 2, "rubric": 4}


async def test_what_was_found_is_verified_in_a_set_of_its_own(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Study(tmp_path, url)
        await study.grade("--verify")
    assert Counter(task for task, _ in model.asked) == {"rubric": 4, "rubric_verify": 3}
    assert study.grades("rubric-verified") == study.grades("rubric")
    code, output = await nuggetstream("rubric", "cover", study.out / "graded.jsonl")
    assert code == 2
    assert "2 sets of grades where one is due: rubric, rubric-verified; see --prompt-class" in output


async def test_whole_passages_are_graded_in_four_styles(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Study(tmp_path, url)
        await study.grade("--direct", "--queries", study.path("queries.tsv"))
    assert len({task for task, _ in model.asked}) == 4
    labels, graded = tmp_path / "labels.qrels", study.out / "graded.jsonl"
    code, output = await nuggetstream("rubric", "qrels", graded, "--prompt-class", "graded", "--out", labels)
    assert code == 0, output
    assert len(labels.read_text(encoding="utf-8").splitlines()) == 4
    assert study.grades("expert")["lost"] == {}


async def test_the_model_that_stays_away_is_the_reason_and_a_later_run_grades(tmp_path: Path) -> None:
    study = Study(tmp_path, "http://127.0.0.1:9/v1", llm_stages='{"*": {"patience_s": 0}}')
    code, output = await run_command(study.environment, *study.arguments())
    assert code == 1, output
    assert "waiting for the model: " in output
    assert "no passage was graded; the same command tries again" in output
    assert set(study.ungraded().values()) == {"llm_unavailable", "no_text"}
    async with running(Model()) as url:
        study = Study(tmp_path, url)
        await study.grade()
    assert study.ungraded() == {"lost": "no_text"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_stopped_run_keeps_what_it_paid_for(tmp_path: Path, number: signal.Signals) -> None:
    model = Model(Faults(latency_s=1.0))
    async with running(model) as url:
        study = Study(tmp_path, url, llm_concurrency="1")
        child = await forked(*study.arguments(), environment=study.environment)
        async with asyncio.timeout(60):
            while not model.asked:
                await asyncio.sleep(0.02)
        child.send_signal(number)
        async with asyncio.timeout(60):
            assert await child.wait() != 0
        assert not (study.out / "graded.jsonl").exists()
        await study.grade()
    assert set(model.asked.values()) == {1}
    assert len(model.asked) == 4


async def test_all_passages_wait_for_one_batch(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Study(tmp_path, url)
        await study.grade("--batch")
        assert model.paths["POST /v1/batches"] == 1
        assert model.paths["POST /v1/chat/completions"] == 0
        assert "with 0 calls" in await study.grade()  # the replies serve runs without batches, too
    assert set(model.asked.values()) == {1}


@pytest.mark.parametrize(
    ("changed", "options", "said"),
    [
        ({"bank.jsonl": "{}\n"}, (), "bank.jsonl:1: no bank of questions or nuggets"),
        ({"bank.jsonl": bank_line("tides") * 2}, (), "bank.jsonl:2: query_id: 'tides' is there twice"),
        ({"kelp.run": "tides Q0 p1\n"}, (), "kelp.run:1: 3 columns where 6 are due"),
        ({"kelp.run": REEF}, (), "kelp.run: tag: the run 'reef' is there twice"),
        ({"documents.jsonl": '{"docid": "p1"}\n'}, (), "documents.jsonl:1: text: is missing"),
        ({"documents.jsonl": ""}, (), "no passage can be graded: it has no text in the file of documents"),
        (
            {"queries.tsv": "tides\n"},
            ("--queries", "queries.tsv"),
            "queries.tsv:1: expected a query id, a tab",
        ),
        ({}, ("--bank", "make"), "name the file of queries with --queries"),
        ({}, ("--direct", "--verify"), "--direct asks none"),
        ({}, ("--batch",), "--batch needs a model's endpoint"),
    ],
)
def test_what_cannot_be_used_is_named(
    tmp_path: Path, changed: dict[str, str], options: tuple[str, ...], said: str
) -> None:
    study = Study(tmp_path, "")
    for name, text in changed.items():
        written(tmp_path, name, text)
    named = [study.path(option) if option in changed else option for option in options]
    code, output = run_here(*study.arguments(*named))
    assert code != 0
    assert said in " ".join(output.split())
    assert not (study.out / "graded.jsonl").exists()
