"""Real services, watched by a real Prometheus and a collector of traces: nothing is without data."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.identity import content_hash
from services.offline.serve import running
from tests.e2e.battles import battle
from tests.e2e.collector import Collector, Exported
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.processes import Platform, separate_processes
from tests.e2e.prometheus import Prometheus, alerts, prometheus, until
from tests.integration.indexer.conftest import Server

DEPLOY = Path(__file__).parents[2] / "deploy"
PRICES = '[models."m"]\ninput = 1000\noutput = 1000\n[models."words"]\ninput = 0\noutput = 0\n'
BATTLES = 4
# Only the kubelet knows these; promtool tests the alerts that use them.
FROM_ELSEWHERE = {"kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes"}


def selectors(expression: str) -> set[str]:
    """The metrics of an expression, each with its matchers."""
    bare = re.sub(r"\b(?:by|on|without)\s*\([^)]*\)", " ", expression)
    return {match[0] for match in re.finditer(r"\b[a-z]+_[a-z_]+(?:\{[^}]*\})?(?!\w*\()", bare)} - {
        "histogram_quantile", "max_over_time", "min_over_time", "predict_linear",
    }  # fmt: skip


def with_all(expression: str) -> str:
    """The expression of a panel while "All" is chosen of every variable."""
    return re.sub(r"\$\w+", ".*", expression)


def required() -> Iterator[tuple[str, str]]:
    """What must have data, by where it is used: all panels as they are, and what alerts compare."""
    dashboard = json.loads((DEPLOY / "grafana/dashboards/nuggetstream.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield f"panel {panel['title']}", with_all(target["expr"])
    for variable in dashboard["templating"]["list"]:
        [(metric, label)] = re.findall(r"^label_values\((\w+), (\w+)\)$", variable["query"])
        yield f"variable {variable['name']}", f'count by ({label}) ({metric}{{{label}!=""}})'
    for rule in alerts():
        for selector in selectors(rule["expr"]):
            if selector.partition("{")[0] not in FROM_ELSEWHERE:
                yield f"alert {rule['alert']}", selector


async def without_data(server: Prometheus) -> list[tuple[str, str]]:
    return [(place, expression) for place, expression in required() if not await server.query(expression)]


async def drive(platform: Platform, client: AsyncClient, numbers: range) -> None:
    """Battles from submission to their end, and the boards they change."""
    for number in numbers:
        unreadable = {"url": "http://127.0.0.1:1/private"}  # rejected before anything is sent
        one = battle(number)
        one["a"]["sources"].append(unreadable)
        await client.submit(one)

    async def all_ended() -> bool:
        return all([(await client.battle(battle(n)["id"])).state != "running" for n in numbers])

    await until(all_ended, 120)
    await client.leaderboard("test")


def test_the_metrics_of_an_expression_are_told_from_its_functions() -> None:
    expression = (
        'histogram_quantile(0.9, sum by (le, stage) (rate(a_b_bucket{x!="y"}[5m]))) > max_over_time(c_d[1m])'
    )
    assert selectors(expression) == {'a_b_bucket{x!="y"}', "c_d"}


def steps(trace: list[Exported]) -> set[tuple[str, str]]:
    """Who did what in a trace: the process without its prefix, and the first word of the span."""
    return {(span.service.removeprefix("nuggetstream-"), span.name.split()[0]) for span in trace}


def spans_without_parent(trace: list[Exported]) -> set[str]:
    known = {span.id for span in trace} | {""}
    return {span.name for span in trace if span.parent not in known}


async def one_trace_has_every_step(collector: Collector, battle_id: str) -> None:
    """A battle is one trace over the broker and gRPC, whose id its own id gives."""
    trace_id, embed = content_hash(battle_id)[:32], "/arena.v1.Embedding/Embed"
    expected = {("gateway", "send"), ("scraper", "fetch"), ("retriever", "search")}
    expected |= {(name, "process") for name in ("scraper", "indexer", "retriever", "recorder")}
    expected |= {(name, step) for name in ("nuggetizer", "assigner", "judge") for step in ("process", "chat")}
    expected |= {("retriever", embed), ("indexer", embed)}

    async def is_whole() -> bool:
        trace = collector.trace(trace_id)
        return not expected - steps(trace) and not spans_without_parent(trace)

    try:
        await until(is_whole, 60)
    except TimeoutError:
        trace = collector.trace(trace_id)
        assert (expected - steps(trace), spans_without_parent(trace)) == (set(), set()), steps(trace)
    chats = [span for span in collector.trace(trace_id) if span.name == "chat m"]
    assert {span.attributes["gen_ai.request.model"] for span in chats} == {"m"}
    assert all(span.attributes["gen_ai.usage.output_tokens"] > 0 for span in chats)
    processed = [span for span in collector.trace(trace_id) if span.name.startswith("process ")]
    assert {span.attributes["nuggetstream.battle.id"] for span in processed} == {battle_id}
    statements = {span.service: span for span in collector.spans if "db.query.text" in span.attributes}
    assert {"nuggetstream-gateway", "nuggetstream-recorder"} <= statements.keys()
    assert {span.attributes["db.system.name"] for span in statements.values()} == {"sqlite"}


async def exemplars_name_traces(platform: Platform, collector: Collector) -> None:
    """What links a bucket of a histogram to a trace, in the format that Prometheus asks for."""
    accept = {"Accept": "application/openmetrics-text; version=1.0.0"}
    async with httpx2.AsyncClient() as http:
        port = platform.processes["judge"].metrics_port
        text = (await http.get(f"http://127.0.0.1:{port}/metrics", headers=accept)).text
    named = set(re.findall(r'# \{trace_id="([0-9a-f]{32})"\}', text))
    assert named

    async def are_exported() -> bool:
        return named <= {span.trace for span in collector.spans}

    await until(are_exported, 60)


@pytest.mark.timeout(300)
async def test_every_panel_and_alert_has_data_and_a_dead_stage_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (port,), collector = free_ports(1), Collector()
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "500")
    (tmp_path / "prices.toml").write_text(PRICES)
    settings = {
        "llm_api_key": "sk-test",
        "llm_base_url": f"http://127.0.0.1:{port}/v1",
        "llm_model": "m",
        # one alert is about a fallback
        "llm_fallback": json.dumps({"base_url": f"http://localhost:{port}/v1", "api_key": "sk-fallback"}),
        "llm_prices": str(tmp_path / "prices.toml"),
        "llm_day_money": "1000000",
        "canary_seconds": "3600",  # one alert is about canary battles
        "log_format": "console",
    }
    async with (
        ModelEndpoint().listening(port),
        running(Server()) as embedding,
        collector.listening() as traces,
    ):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", traces)
        settings |= {"embedding_url": embedding, "embedding_model": "words"}
        await watched(tmp_path, settings, collector)


async def watched(tmp_path: Path, settings: dict[str, str], collector: Collector) -> None:
    async with (
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
            await one_trace_has_every_step(collector, battle(0)["id"])
            await exemplars_name_traces(platform, collector)
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
