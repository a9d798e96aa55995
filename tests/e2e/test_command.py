"""The command as a user runs it: the demo, files of battles good and bad, stopping and going on."""

import asyncio
import gzip
import json
import re
import signal
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.progress import BattleState
from nuggetstream.report.sections import CHAPTERS
from services.cli.wiring.settings import NO_MODEL, embedded_model
from services.offline.app import create_app
from services.runtime.asgi import serving
from services.wire.evaluators import EVALUATORS, Yields, durable_of
from tests.e2e.battles import battle
from tests.e2e.ports import free_ports
from tests.e2e.processes import clean_environment, run_command, run_here
from tests.forked import Forked, forked

# Words decide alone here: the tests of this module are about the command, not about vectors.
LIGHT = clean_environment(embedding_model="none")


def write_lines(path: Path, lines: list[Any]) -> Path:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def start(environment: dict[str, str], *arguments: str) -> Forked:
    return await forked(*arguments, environment=environment, stdout=PIPE, stderr=STDOUT)


async def test_the_demo_explains_a_battle_and_leaves_its_files(tmp_path: Path) -> None:
    code, output = await run_command(LIGHT, "demo", "--out", str(tmp_path / "demo"))
    assert code == 0, output
    assert output.startswith("Nuggetstream demo: starting ")
    assert "BM25 alone" in output
    assert len(output.splitlines()) <= 48  # one screen: 44, and a line more per 20 seconds of a slow machine
    assert "The nuggets say that atlas is better" in output
    assert "The judge says that " in output
    for lens in ("human votes", "nuggets", "judge"):
        assert re.search(rf"^  {lens} +1[69] battles  ", output, re.MULTILINE), lens
    code, another = run_here("demo", "--battle", "demo-07", "--out", str(tmp_path / "demo"))
    assert (code, another.splitlines()[0]) == (
        0,
        "demo-07: Why did the Great Fire of London in 1666 spread so far?",
    )
    results = read_lines(tmp_path / "demo" / "results.jsonl")
    assert len(results) == 19
    assert {result["state"] for result in results} == {"scored"}
    assert all(step["recorded_at"] for result in results for step in result["steps"])
    spent = {each["stage"] for result in results for each in result["spend"]}
    beside = set(EVALUATORS) - {"pairwise"}
    assert spent == {"nuggetizer", "assigner", "judge", *map(durable_of, beside)}
    qualities = {s["quality"] for result in results for side in "ab" for s in result[side]["sources"]}
    assert {"ok", "not_found", "cookie_wall", "too_large", "timeout", "wrong_type", "empty"} <= qualities
    graded = {grading["evaluator"] for row in results for grading in row["gradings"] if grading["grades"]}
    assert graded == {name for name, each in EVALUATORS.items() if each.yields is Yields.GRADES}
    start_page = (tmp_path / "demo" / "pages" / "index.html").read_text(encoding="utf-8")
    assert 'href="battles-demo-01.html"' in start_page
    assert (tmp_path / "demo" / "pages" / "battles-demo-01.html").is_file()
    # A report of them, in which every section meets what every evaluator leaves.
    report, file = tmp_path / "report", tmp_path / "demo" / "results.jsonl"
    code, output = run_here("report", str(file), "--out", str(report))
    assert (code, output.splitlines()[0]) == (0, "scored 19 of 19 battles received"), output
    numbers = json.loads((report / "report.json").read_text(encoding="utf-8"))
    assert set(numbers["numbers"]) == {part.name for chapter in CHAPTERS for part in chapter.parts}
    assert numbers["numbers"]["assigners"]


async def test_a_dry_run_says_what_a_file_would_cost_and_calls_no_model(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "battles.jsonl", [battle(number) for number in range(3)])
    prices = tmp_path / "prices.toml"
    prices.write_text("[models.dear]\ninput = 1000\noutput = 2000\n", encoding="utf-8")
    [port] = free_ports(1)  # nobody listens there
    environment = LIGHT | {
        "NUGGETSTREAM_LLM_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "NUGGETSTREAM_LLM_MODEL": "dear",
        "NUGGETSTREAM_LLM_PRICES": str(prices),
        "NUGGETSTREAM_LLM_BATTLE_MONEY": "0.01",
    }
    before = sorted(tmp_path.iterdir())
    code, output = await run_command(environment, "eval", str(file), "--dry-run")
    assert code == 0, output
    assert "Nothing was paid. All battles were evaluated by the offline model." in output
    rows = {words[0]: words[1:] for line in output.splitlines() if len(words := line.split()) == 4}
    calls = {stage: int(row[0]) for stage, row in rows.items()}
    assert calls == {"nuggetizer": 3, "assigner": 6, "judge": 6, "together": 15}
    tokens_in, tokens_out = (int(number.replace(",", "")) for number in rows["together"][1:])
    assert f"Cost with dear: {(tokens_in * 1000 + tokens_out * 2000) / 1e6:.2f} USD\n" in output
    assert sorted(tmp_path.iterdir()) == before
    code, output = await asyncio.to_thread(run_here, "eval", str(file))
    assert (code, "Missing option '--out'" in output) == (2, True)


async def test_bad_lines_are_reported_by_number_and_the_rest_goes_on(tmp_path: Path) -> None:
    missing = battle(2)
    del missing["b"]
    lines = [
        battle(0),
        '{"id": "broken", ',
        missing,
        battle(3, vote="maybe"),
        battle(4, a={"system": "atlas", "text": ""}, b={"system": "birch", "text": " "}),
        battle(0),  # the same battle again: one result
        battle(0, query="another question"),  # the same id with other content
        battle(5, a={"system": "atlas", "text": "x" * 10_000_000}),
        battle(6, b={"system": "cobalt", "text": ""}),  # an empty answer is a valid, bad answer
    ]
    file, out = write_lines(tmp_path / "battles.jsonl", lines), tmp_path / "out"
    code, output = await run_command(LIGHT, "eval", str(file), "--out", str(out))
    assert code == 0, output
    assert f"{file}:2: is not valid JSON" in output
    assert f"{file}:3: b: is missing" in output
    assert "scored 2 of 8 battles received" in output
    assert f"{file}:7: " in output
    assert "6 lines rejected; see" in output
    assert "5 without a battle, 1 rejected when submitted" in output
    rejected = {row["line"]: "; ".join(row["problems"]) for row in read_lines(out / "rejected.jsonl")}
    assert list(rejected) == [2, 3, 4, 5, 7, 8]
    assert "vote" in rejected[4]
    assert rejected[5] == "both answers are empty: there is nothing to compare"
    assert rejected[8] == "a.text: is 10,000,000 bytes long; at most 200,000 are accepted"
    assert [row["id"] for row in read_lines(out / "results.jsonl")] == ["battle-000", "battle-006"]
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["received"], summary["scored"], summary["failed"], summary["rejected"]) == (8, 2, 6, 6)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(b"{}\n" * 1000)[:-9])
    garbled = tmp_path / "garbled.jsonl.gz"
    garbled.write_bytes(gzip.compress(b"{}\n" * 1000)[:10] + b"\xff" * 20)
    cases = ((tmp_path / "no.jsonl", "No such file"), (torn, "end-of-stream"), (garbled, "decompressing"))
    for file, problem in cases:
        code, output = run_here("eval", str(file), "--out", str(tmp_path / "out"), environment=LIGHT)
        assert code == 2
        assert str(file) in output
        assert problem in output
        assert "Traceback" not in output


async def test_ctrl_c_loses_nothing_and_a_second_run_pays_for_nothing_twice(tmp_path: Path) -> None:
    """The model is a server of ours that counts what it is asked."""
    asked = 0
    enough = asyncio.Event()
    offline = create_app(None)

    async def counting(scope: Any, receive: Any, send: Any) -> None:
        nonlocal asked
        asked += 1
        if asked >= 60:
            enough.set()
        await offline(scope, receive, send)

    async with serving(counting) as url:
        environment = LIGHT | {
            "NUGGETSTREAM_LLM_BASE_URL": f"{url}/v1",
            "NUGGETSTREAM_LLM_MODEL": "offline-heuristic",
            "NUGGETSTREAM_GRACE": "200",  # calls that are on their way end, also on a slow machine
        }
        file = write_lines(tmp_path / "battles.jsonl", [battle(number) for number in range(60)])
        command = ("eval", str(file), "--out", str(tmp_path / "out"))
        first = await start(environment, *command)
        await enough.wait()
        first.send_signal(signal.SIGINT)
        output, _ = await first.communicate()
        assert first.returncode == 130, output.decode()
        last = output.decode().splitlines()[-2:]
        assert last[0].startswith("stopping")
        assert last[1] == (
            "stopped; the results have what there is; run the same command again to continue from here"
        )
        code, again = await run_command(environment, *command)
        assert code == 0, again
        assert "scored 60 of 60 battles received" in again
    assert len(read_lines(tmp_path / "out" / "results.jsonl")) == 60
    assert asked == 60 * 5  # nuggets, two assignments, two verdicts; interrupted or not


async def test_a_model_that_stays_away_longer_than_the_patience_fails_battles_with_a_reason(
    tmp_path: Path,
) -> None:
    (port,) = free_ports(1)
    environment = LIGHT | {
        "NUGGETSTREAM_LLM_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "NUGGETSTREAM_LLM_MODEL": "nobody",
        "NUGGETSTREAM_LLM_STAGES": '{"*": {"patience_s": 1}}',
    }
    file = write_lines(tmp_path / "battles.jsonl", [battle(1)])
    code, output = await run_command(environment, "eval", str(file), "--out", str(tmp_path / "out"))
    assert code == 0, output
    assert "scored 0 of 1 battles received" in output
    assert "nuggetizer: the model was away (1)" in output
    assert "judge: the model was away (1)" in output
    assert "the model is away; battles wait for it" in output
    (result,) = read_lines(tmp_path / "out" / "results.jsonl")
    assert result["nugget_verdict"] is None
    assert "given up after waiting for 1 s" in result["failures"][0]["detail"]
    assert str(port) not in result["failures"][0]["detail"]  # addresses are for administrators


async def test_up_serves_and_leaves_no_child_behind(tmp_path: Path) -> None:
    http, metrics = free_ports(2)
    ports = ("--http-port", str(http), "--grpc-port", "0", "--metrics-port", str(metrics))
    child = await start(LIGHT, "up", "--data-dir", str(tmp_path), *ports)
    try:
        assert child.stdout is not None
        while b"pages" not in (line := await child.stdout.readline()):
            assert line  # a slow machine logs a warning before it
        async with AsyncClient(f"http://127.0.0.1:{http}") as client:
            assert (await client.submit_and_wait(battle(1))).state is BattleState.SCORED
            assert (await client.ready()).status == "ok"
        async with httpx2.AsyncClient(timeout=90) as prometheus:
            exposed = (await prometheus.get(f"http://127.0.0.1:{metrics}/metrics")).text
        for name in (
            "messaging_process_duration_seconds_count",
            "nuggetstream_llm_calls_total",
            "gen_ai_client_token_usage_count",
            "nuggetstream_battle_duration_seconds_count",
        ):
            assert name in exposed
        children = psutil.Process(child.pid).children(recursive=True)
        assert any("nats-server" in each.name() for each in children)
    finally:
        child.send_signal(signal.SIGINT)
        output, _ = await child.communicate()
    assert child.returncode == 0
    assert output.decode().splitlines()[-1] == "stopping; Ctrl-C again ends it at once"
    assert not [each for each in children if each.is_running()]


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        (
            "NUGGETSTREAM_PROFILE",
            "fast",
            "NUGGETSTREAM_PROFILE: Input should be 'live', 'paper', 'frugal' or 'small'",
        ),
        ("NUGGETSTREAM_LLM_BASE_URL", "http://127.0.0.1:9/v1", "set NUGGETSTREAM_LLM_MODEL"),
        (
            "NUGGETSTREAM_LLM_STAGES",
            '{"jugde": {}}',
            "jugde; choose of retriever, nuggetizer, assigner, ",
        ),
        ("NUGGETSTREAM_LLM_STAGES", '{"judge"', "NUGGETSTREAM_LLM_STAGES: Value error, is not JSON"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, setting: str, value: str, problem: str) -> None:
    ports = ("--http-port", "0", "--grpc-port", "0", "--metrics-port", "0")
    up = ("up", "--data-dir", str(tmp_path), *ports)
    code, output = run_here(*up, environment=LIGHT | {setting: value})
    assert code == 1
    assert problem in output
    assert "Traceback" not in output


async def test_a_battle_is_scored_call_by_call_in_the_paper_profile(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "battles.jsonl", [battle(1)])
    environment = LIGHT | {"NUGGETSTREAM_PROFILE": "paper"}
    code, output = await run_command(environment, "eval", str(file), "--out", str(tmp_path / "out"))
    assert code == 0, output
    (result,) = read_lines(tmp_path / "out" / "results.jsonl")
    assert result["state"] == "scored"
    assert result["judgments"][0]["flipped"] is None  # one order only


def test_doctor_names_what_is_missing_and_how_to_mend_it(tmp_path: Path) -> None:
    environment = LIGHT | {"NUGGETSTREAM_DATABASE_URL": f"sqlite+aiosqlite:///{tmp_path / 'record.db'}"}
    (port,) = free_ports(1)
    environment["NUGGETSTREAM_NATS_URL"] = f"nats://ada:secret@127.0.0.1:{port}"
    environment |= {"NUGGETSTREAM_LLM_BASE_URL": f"http://bob:secret@127.0.0.1:{port}/v1"}
    environment |= {"NUGGETSTREAM_LLM_MODEL": "m"}
    fallback = {"base_url": f"http://bob:secret@127.0.0.1:{port}/v2"}
    environment |= {"NUGGETSTREAM_LLM_FALLBACK": json.dumps(fallback)}
    code, output = run_here("doctor", environment=environment)
    assert code == 1
    broker = f"nats://ada:***@127.0.0.1:{port}"
    assert f"FAIL broker: {broker}: no broker at {broker}: " in output
    assert "secret" not in output
    assert f"FAIL database: {environment['NUGGETSTREAM_DATABASE_URL']}: there is no database file " in output
    assert f"FAIL model: http://bob:***@127.0.0.1:{port}/v1: " in output
    assert f"FAIL fallback: http://bob:***@127.0.0.1:{port}/v2: " in output
    assert "run `nuggetstream migrate`" in output
    assert not (tmp_path / "record.db").exists()  # it asks and leaves nothing
    assert run_here("migrate", environment=environment)[0] == 0
    _, output = run_here("doctor", environment=environment)
    assert f"ok   database: {environment['NUGGETSTREAM_DATABASE_URL']}: all tables exist" in output
    for name in ("BASE_URL", "MODEL", "FALLBACK"):
        del environment[f"NUGGETSTREAM_LLM_{name}"]
    assert run_here("doctor", "--embedded", environment=environment)[0] == 0


def test_doctor_checks_what_the_settings_are_for(tmp_path: Path) -> None:
    environment = clean_environment()
    code, output = run_here("doctor", environment=environment)
    assert code == 0, output  # nothing is configured, and `up` needs nothing more
    assert output.startswith("checked: everything in one process")
    ranking = embedded_model()
    assert f"ok   embeddings: {'none' if ranking == NO_MODEL else ranking}" in output
    assert "broker:" not in output
    assert run_here("doctor", "--separate", environment=environment)[0] == 1
    environment["NUGGETSTREAM_DATABASE_URL"] = f"sqlite+aiosqlite:///{tmp_path / 'none.db'}"
    code, output = run_here("doctor", environment=environment)
    assert (code, output.split(",")[0]) == (1, "checked: separate services")
    assert "nats-server:" not in output


def test_doctor_rejects_what_up_rejects() -> None:
    code, output = run_here("doctor", environment=LIGHT | {"NUGGETSTREAM_GRACE": "long"})
    assert code == 1
    assert "NUGGETSTREAM_GRACE: " in output
