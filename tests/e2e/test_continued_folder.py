"""`eval` into a folder that has results: votes come later, rows change, files grow, runs are cut off."""

import asyncio
import json
import signal
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Any

import pytest

from services.cli.evaluation.results import RESULTS
from services.offline.app import create_app
from services.runtime.asgi import serving
from tests.e2e.battles import battle
from tests.e2e.processes import clean_environment, run_command
from tests.forked import forked

LIGHT = clean_environment(embedding_model="none")


def write(path: Path, *battles: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in battles), encoding="utf-8")
    return path


def results(out: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in (out / RESULTS).read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row for row in rows}


def scores(out: Path) -> dict[str, Any]:
    return {name: row["nugget_verdict"] for name, row in results(out).items()}


async def evaluated(file: Path, out: Path, *more: str, **environment: str) -> str:
    code, output = await run_command(LIGHT | environment, "eval", str(file), "--out", str(out), *more)
    assert code == 0, output
    return " ".join(output.split())


async def refused(file: Path, out: Path, *more: str, **environment: str) -> str:
    code, output = await run_command(LIGHT | environment, "eval", str(file), "--out", str(out), *more)
    assert code == 2, output
    return " ".join(output.split())


@pytest.mark.timeout(300)
async def test_a_folder_takes_later_votes_changed_rows_and_other_files(tmp_path: Path) -> None:
    out, file = tmp_path / "out", tmp_path / "battles.jsonl"
    three = [{name: value for name, value in battle(n).items() if name != "vote"} for n in range(3)]
    first = await evaluated(write(file, *three), out)
    assert "votes added" not in first
    before = scores(out)

    voted = await evaluated(write(file, *(row | {"vote": "a"} for row in three)), out)
    assert "3 votes added to battles that were evaluated before" in voted
    assert "Human lens: 3 of 3 battles" in voted
    assert {row["human_vote"] for row in results(out).values()} == {"a"}
    assert scores(out) == before
    again = await evaluated(file, out)
    assert "votes added" not in again
    other = await evaluated(write(file, three[0] | {"vote": "b"}), out)
    assert "1 vote replaced by the newer vote of" in other
    assert results(out)["battle-000"]["human_vote"] == "b"

    changed = three[1] | {"b": three[1]["b"] | {"text": "The tidal range depends on the shape of the coast."}}
    kept = await evaluated(write(file, changed), out)
    assert "1 battle of" in kept
    assert "which stay: 'battle-001' on line 1; to evaluate them again, add --redo-changed" in kept
    assert "rejected" not in kept
    assert results(out)["battle-001"]["b"]["text"] == three[1]["b"]["text"]
    await evaluated(file, out, "--redo-changed")
    assert results(out)["battle-001"]["b"]["text"] == changed["b"]["text"]
    assert scores(out)["battle-001"] != before["battle-001"]

    more = await evaluated(write(file, battle(7), battle(8)), out, "--limit", "1")
    assert "scored 4 of 4 battles received" in more
    assert "the results have 3 battles more, of earlier runs in" in more
    assert list(results(out)) == ["battle-000", "battle-001", "battle-002", "battle-007"]


@pytest.mark.timeout(300)
async def test_settings_are_mixed_on_request_alone_and_a_mixture_is_named(tmp_path: Path) -> None:
    out, one, two = tmp_path / "out", tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    await evaluated(write(one, battle(1)), out)
    write(two, battle(1), battle(2))
    paper = {"NUGGETSTREAM_PROFILE": "paper"}
    told = await refused(two, out, **paper)
    assert "has 1 battle evaluated with" in told
    assert "profile=live" in told
    assert "this run has" in told
    assert "profile=paper" in told
    assert "--mix" in told
    assert list(results(out)) == ["battle-001"]
    mixed = await evaluated(two, out, "--mix", **paper)
    assert "These battles were not evaluated alike" in mixed
    assert {name: row["settings"]["profile"] for name, row in results(out).items()} == {
        "battle-001": "live",
        "battle-002": "paper",
    }
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert sorted(summary["mixed"].values()) == [1, 1]
    code, output = await run_command(LIGHT, "report", str(out / RESULTS), "--out", str(tmp_path / "report"))
    assert code == 0, output
    assert "were not evaluated alike" in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
async def test_what_a_cut_off_run_has_can_be_read(tmp_path: Path, end: signal.Signals) -> None:
    """The model answers for some battles, and never for the others."""
    out, file = tmp_path / "out", tmp_path / "battles.jsonl"
    offline = create_app(None)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        async def received() -> Any:
            message = await receive()
            if b"(7)" in message.get("body", b""):
                await asyncio.Event().wait()
            return message

        await offline(scope, received, send)

    async with serving(slow) as url:
        environment = LIGHT | {
            "NUGGETSTREAM_LLM_BASE_URL": f"{url}/v1",
            "NUGGETSTREAM_LLM_MODEL": "offline-heuristic",
            "NUGGETSTREAM_GRACE": "1",
        }
        command = ("eval", str(write(file, *map(battle, range(8)))), "--out", str(out))
        run = await forked(*command, environment=environment, stdout=PIPE, stderr=STDOUT)
        while not (out / RESULTS).exists():
            assert run.returncode is None
            await asyncio.sleep(0.05)
        run.send_signal(end)
        await run.communicate()
    assert 1 <= len(results(out)) <= 7
    assert "battle-007" not in results(out)
    code, output = await run_command(LIGHT, "report", str(out / RESULTS), "--out", str(tmp_path / "r"))
    assert code == 0, output


@pytest.mark.timeout(300)
async def test_the_order_of_a_file_changes_no_list_and_no_board(tmp_path: Path) -> None:
    """Battles of one query share a list, to which each answer may add facts."""
    facts = [battle(number)["a"]["text"] for number in range(5)]
    rows = [
        battle(number)
        | {"query": "Why are there tides?", "id": f"battle-{number}"}
        | {"a": {"system": f"s{number}", "text": facts[number]}, "b": {"system": "t", "text": facts[-number]}}
        for number in range(1, 5)
    ]
    await evaluated(write(tmp_path / "one.jsonl", *rows), tmp_path / "one")
    await evaluated(write(tmp_path / "two.jsonl", *rows[::-1]), tmp_path / "two")
    one, two = scores(tmp_path / "one"), scores(tmp_path / "two")
    assert one == two
    boards = [
        json.loads((tmp_path / name / "summary.json").read_text(encoding="utf-8"))["leaderboards"]
        for name in ("one", "two")
    ]
    standings = [[board["standings"] for board in of_run] for of_run in boards]
    assert standings[0] == standings[1]


@pytest.mark.timeout(300)
async def test_lines_with_one_battle_are_votes_of_several_people(tmp_path: Path) -> None:
    out, file = tmp_path / "out", tmp_path / "battles.jsonl"
    row = {name: value for name, value in battle(1).items() if name not in ("id", "vote")}
    told = await evaluated(write(file, *(row | {"vote": vote} for vote in "abb")), out)
    assert "1 battle; model" in told
    assert "2 lines with the battle of an earlier line: each battle is evaluated once, and 1 battle" in told
    (result,) = results(out).values()
    assert result["human_vote"] == "b"
    assert sorted(vote["vote"] for vote in result["human_votes"]) == ["a", "b", "b"]
    assert result["reference"] == {"vote": "b"}
    assert "votes added" not in await evaluated(file, out)
    named = [row | {"vote": vote, "voter": voter} for voter, vote in (("u1", "a"), ("u1", "a"), ("u2", "a"))]
    added = await evaluated(write(file, *named), out)
    assert "2 votes added" in added
    (result,) = results(out).values()
    assert sorted(vote["vote"] for vote in result["human_votes"]) == ["a", "a", "a", "b", "b"]
    assert result["human_vote"] == "a"
