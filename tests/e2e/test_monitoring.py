"""Real services, scraped by a real Prometheus: every panel and every alert has data."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from nuggetstream.client import AsyncClient
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.processes import Platform, separate_processes
from tests.e2e.prometheus import Prometheus, prometheus, until

DEPLOY = Path(__file__).parents[2] / "deploy"
PRICES = '[models."m"]\ninput = 1000\noutput = 1000\n'
BATTLES = 4
# Only the kubelet knows these; promtool tests the alerts that use them.
FROM_ELSEWHERE = {"kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes"}


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def selectors(expression: str) -> set[str]:
    """The metrics of an expression, each with its matchers."""
    bare = re.sub(r"\b(?:by|on|without)\s*\([^)]*\)", " ", expression)
    return {match[0] for match in re.finditer(r"\b[a-z]+_[a-z_]+(?:\{[^}]*\})?(?!\w*\()", bare)} - {
        "histogram_quantile", "max_over_time", "min_over_time", "predict_linear",
    }  # fmt: skip


def required() -> Iterator[tuple[str, str]]:
    """What must have data, by where it is used: all panels as they are, and what alerts compare."""
    dashboard = json.loads((DEPLOY / "grafana/dashboards/nuggetstream.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield f"panel {panel['title']}", target["expr"]
    for rule in alerts():
        for selector in selectors(rule["expr"]):
            if selector.partition("{")[0] not in FROM_ELSEWHERE:
                yield f"alert {rule['alert']}", selector


async def without_data(server: Prometheus) -> list[tuple[str, str]]:
    return [(place, expression) for place, expression in required() if not await server.query(expression)]


async def drive(platform: Platform, client: AsyncClient, numbers: range) -> None:
    """Battles from submission to their end, and the boards they change."""
    for number in numbers:
        await client.submit(battle(number))

    async def all_ended() -> bool:
        return all([(await client.battle(battle(n)["id"])).state != "running" for n in numbers])

    await until(all_ended, 60)
    await client.leaderboard("test")


def test_the_metrics_of_an_expression_are_told_from_its_functions() -> None:
    expression = (
        'histogram_quantile(0.9, sum by (le, stage) (rate(a_b_bucket{x!="y"}[5m]))) > max_over_time(c_d[1m])'
    )
    assert selectors(expression) == {'a_b_bucket{x!="y"}', "c_d"}


@pytest.mark.timeout(300)
async def test_every_panel_and_alert_has_data_and_a_dead_stage_is_named(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    (tmp_path / "prices.toml").write_text(PRICES)
    settings = {
        "llm_api_key": "sk-test",
        "llm_base_url": f"http://127.0.0.1:{port}/v1",
        "llm_model": "m",
        "llm_fallback_base_url": f"http://localhost:{port}/v1",  # one alert is about a fallback
        "llm_fallback_api_key": "sk-fallback",
        "llm_prices": str(tmp_path / "prices.toml"),
        "llm_day_money": "1000000",
        "canary_seconds": "3600",  # one alert is about canary battles
        "log_format": "console",
    }
    async with (
        ModelEndpoint().listening(port),
        separate_processes(tmp_path, **settings) as platform,
        AsyncClient(platform.url, patience=60) as client,
    ):
        ports = {name: process.metrics_port for name, process in platform.processes.items()}
        async with prometheus(tmp_path, ports) as server:
            await until(lambda: is_scraped(server, len(ports)), 30)
            for wave in range(2):  # a rate needs two values of a series
                await drive(platform, client, range(wave * BATTLES, (wave + 1) * BATTLES))
                await asyncio.sleep(2.5)  # two scrapes in between
            missing = await without_data(server)
            assert missing == []
            await each_alert_is_valid_and_quiet(server)
            await cost_and_latency_name_arena_and_stage(server)
            await platform.processes["judge"].kill()
            await until(lambda: is_down(server, "judge"), 30)
            await platform.processes["judge"].start()


async def is_scraped(server: Prometheus, count: int) -> bool:
    return len(await server.query("up == 1")) == count


async def each_alert_is_valid_and_quiet(server: Prometheus) -> None:
    costs = {"NuggetstreamCostBurn"}  # the prices of this test are meant to burn
    for rule in alerts():
        if rule["alert"] in costs:
            assert await server.query(rule["expr"]), rule["alert"]
        elif rule["alert"] not in {"NuggetstreamStageNotPulling"}:  # compares with the past ten minutes
            assert await server.query(rule["expr"]) == [], rule["alert"]


async def cost_and_latency_name_arena_and_stage(server: Prometheus) -> None:
    cost = await server.query("sum by (arena, stage) (nuggetstream_llm_cost_total) > 0")
    assert {(s["metric"]["arena"], s["metric"]["stage"]) for s in cost} == {
        ("other", "canary"),  # canary battles are of no arena
        *(("test", stage) for stage in ("nuggetizer", "assigner", "judge")),
    }
    stages = await server.labels('nuggetstream_stage_duration_seconds_count{arena="test"} > 0', "stage")
    assert stages >= {
        "scraper",
        "indexer",
        "retriever",
        "nuggetizer",
        "assigner",
        "judge",
        "recorder",
    }


async def is_down(server: Prometheus, stage: str) -> bool:
    (rule,) = [rule for rule in alerts() if rule["alert"] == "NuggetstreamStageDown"]
    return await server.labels(rule["expr"], "stage") == {stage}
