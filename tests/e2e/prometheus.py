"""A real Prometheus that scrapes service processes of a test."""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import yaml

from tests.e2e.ports import free_ports
from tests.tools import find_tool

CONFIGURATION = Path(__file__).parents[2] / "deploy/prometheus/prometheus.yaml"


def alerts() -> list[dict[str, Any]]:
    """The shipped rules of alerts."""
    groups = yaml.safe_load((CONFIGURATION.parent / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


@dataclass
class Prometheus:
    """A running Prometheus."""

    http: httpx2.AsyncClient

    async def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples of an instant query that are numbers; an expression that is not valid raises."""
        response = await self.http.get("/api/v1/query", params={"query": expression})
        answer = response.json()
        assert answer["status"] == "success", (expression, answer)
        result: list[dict[str, Any]] = answer["data"]["result"]
        return [sample for sample in result if not math.isnan(float(sample["value"][1]))]

    async def labels(self, expression: str, label: str) -> set[str]:
        """The values of a label in the result of a query."""
        return {sample["metric"][label] for sample in await self.query(expression)}


@asynccontextmanager
async def prometheus(
    folder: Path,
    targets: Mapping[str, int],
    rules: Sequence[Mapping[str, Any]] = (),
    jobs: Sequence[Mapping[str, Any]] = (),
) -> AsyncIterator[Prometheus]:
    """A Prometheus with the configuration of compose, which scrapes ports on loopback every second.

    Args:
        folder: Where it keeps its files.
        targets: Ports of the metrics by name of the service.
        rules: Rules of alerts in place of the shipped ones.
        jobs: Further scrape configurations.
    """
    binary = find_tool("prometheus", "Debian package prometheus")
    configuration = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))
    configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    groups = [{"name": "test", "rules": list(rules or alerts())}]
    (folder / "rules.yaml").write_text(json.dumps({"groups": groups}), encoding="utf-8")
    configuration["rule_files"] = [str(folder / "rules.yaml")]
    (job,) = configuration["scrape_configs"]
    job.pop("relabel_configs")  # the name of the service is that of its host there
    job["static_configs"] = [
        {"targets": [f"127.0.0.1:{port}"], "labels": {"service": name}} for name, port in targets.items()
    ]
    configuration["scrape_configs"] += jobs
    (folder / "prometheus.yaml").write_text(json.dumps(configuration), encoding="utf-8")
    (port,) = free_ports(1)
    with (folder / "prometheus.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            binary, f"--config.file={folder / 'prometheus.yaml'}", f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
            stdout=log, stderr=log,
        )  # fmt: skip
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=90) as http:
            await until(lambda: _is_ready(http), 30)
            yield Prometheus(http)
    finally:
        process.terminate()
        await process.wait()


async def _is_ready(http: httpx2.AsyncClient) -> bool:
    try:
        return (await http.get("/-/ready")).is_success
    except httpx2.TransportError:
        return False


async def until(condition: Callable[[], Awaitable[bool]], seconds: float, pause: float = 0.2) -> None:
    """Wait until a condition holds, which is asked after each pause."""
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(pause)
