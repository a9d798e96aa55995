"""`nuggetstream eval --retry-failed` evaluates again what failed, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.processes import clean_environment, run_command

BATTLES, CALLS = 3, 5


def states(out: Path) -> list[tuple[Any, Any]]:
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(row["state"], [failure["stage"] for failure in row["failures"]]) for row in rows]


@pytest.mark.timeout(300)
async def test_failed_battles_are_evaluated_again_on_request_only(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    file, out = tmp_path / "battles.jsonl", tmp_path / "out"
    file.write_text("".join(json.dumps(battle(number)) + "\n" for number in range(BATTLES)), encoding="utf-8")
    environment = clean_environment(
        embedding_model="none",
        llm_api_key="sk-test",
        llm_base_url=f"http://127.0.0.1:{port}/v1",
        llm_model="m",
    )
    endpoint = ModelEndpoint(filtered={"assignment"})

    async def evaluate(*options: str) -> str:
        code, output = await run_command(environment, "eval", str(file), "--out", str(out), *options)
        assert code == 0, output
        return output

    async with endpoint.listening(port):
        assert "run the same command with --retry-failed" in await evaluate()
        assert states(out) == [("partial", ["assigner"])] * BATTLES
        rejected = endpoint.rejected.total()

        endpoint.filtered.clear()
        await evaluate()  # without the option, nothing is asked again
        assert states(out) == [("partial", ["assigner"])] * BATTLES
        assert endpoint.rejected.total() == rejected
        assert endpoint.answered.total() == 3 * BATTLES

        assert "--retry-failed" not in await evaluate("--retry-failed")
        assert states(out) == [("scored", [])] * BATTLES
        assert set(endpoint.answered.values()) == {1}  # only the missing calls were made
        assert endpoint.answered.total() == CALLS * BATTLES

        await evaluate("--retry-failed")  # nothing is left to retry
        assert endpoint.answered.total() == CALLS * BATTLES
