"""`nuggetstream eval` shares nugget lists between battles with the same query and evidence."""

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from services.store.database import Database
from services.store.spend.call_reading import read_calls
from services.store.tables import battles
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.processes import clean_environment, run_command

STAGES = '{"nuggetizer": {"model": "large"}, "judge": {"model": "thinker", "effort": "low"}}'
SOURCE = {"url": "https://tides.example/0", "text": "The Moon raises two tidal bulges on the Earth."}
TEXTS = (
    "The Moon pulls the water of the oceans towards itself.",
    "Spring tides occur when Sun, Moon and Earth stand in one line.",
    "Friction of the tides slows the rotation of the Earth.",
)


def answer(number: int) -> dict[str, Any]:
    return {"system": f"system-{number}", "text": TEXTS[number], "sources": [SOURCE]}


def every_pair() -> list[dict[str, Any]]:
    """Three answers to one query, each against each."""
    pairs = ((0, 1), (1, 2), (2, 0))
    query = "Why are there tides?"
    return [battle(n, query=query, a=answer(a), b=answer(b)) for n, (a, b) in enumerate(pairs)]


async def every_request_is_in_the_log(endpoint: ModelEndpoint, path: Path) -> None:
    """The log has the prompts of all requests, as they were sent, and their replies."""
    database = Database(f"sqlite+aiosqlite:///{path}")
    ids = await database.read(lambda connection: list(connection.scalars(select(battles.c.id))))
    calls = [call for i in ids for call in await database.read(partial(read_calls, battle_id=i))]
    await database.close()
    assert all(call.reply for call in calls)
    prompts = [[message.model_dump() for message in call.prompt or ()] for call in calls]
    assert Counter(map(json.dumps, prompts)) == Counter(map(json.dumps, endpoint.prompts))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("setting", "calls"), [({}, 2), ({"nugget_bank_hours": "0", "llm_stages": STAGES}, 3)]
)
async def test_battles_of_one_query_share_a_list(tmp_path: Path, setting: dict[str, str], calls: int) -> None:
    """The first battle asks for the list, and the first with the third answer for what that adds."""
    (port,) = free_ports(1)
    file, out = tmp_path / "battles.jsonl", tmp_path / "out"
    file.write_text("".join(json.dumps(line) + "\n" for line in every_pair()), encoding="utf-8")
    environment = clean_environment(
        embedding_model="none",
        llm_api_key="sk-test",
        llm_base_url=f"http://127.0.0.1:{port}/v1",
        llm_model="m",
        **setting,
    )
    endpoint = ModelEndpoint()
    async with endpoint.listening(port):
        code, output = await run_command(environment, "eval", str(file), "--out", str(out))
    assert code == 0, output
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["state"] for row in rows] == ["scored"] * 3
    paid = [spend["calls"] for row in rows for spend in row["spend"] if spend["stage"] == "nuggetizer"]
    assert sum(paid) == calls
    await every_request_is_in_the_log(endpoint, out / "state" / "nuggetstream.db")
    if setting:
        assert set(endpoint.models) == {("large", "nuggets"), ("m", "assignment"), ("thinker", "verdict")}
        models = {(spend["stage"], spend["model"]) for spend in rows[0]["spend"]}
        assert models == {("nuggetizer", "large"), ("assigner", "m"), ("judge", "thinker")}
        assert [row["nugget_bank"] for row in rows] == [None] * 3
    else:
        assert len({row["nugget_bank"]["bank"] for row in rows}) == 1
        assert sorted(row["nugget_bank"]["version"] for row in rows) == [1, 2, 2]
