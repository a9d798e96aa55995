"""The page on scaling has the table that its benchmark derives, and says what the manifests have."""

from pathlib import Path

import yaml

from benchmarks import scaling
from deploy import generate

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")


def test_the_table_is_what_the_measured_figures_give() -> None:
    assert scaling.table() in PAGE


def test_the_steps_name_the_numbers_of_the_table() -> None:
    assert f"**{scaling.stored_limit():.0f} a second** is where one stream ends" in PAGE
    assert f"confirms {scaling.CONFIRMED:.0f} stored messages a second" in PAGE
    assert f"with its {scaling.pods(1)} pods" in PAGE
    assert f"at {scaling.CALL_SECONDS:.1f} s a call" in PAGE
    assert f"calls for {scaling.shown(scaling.money(1_000 * scaling.DAY))} a day" in PAGE
    year = 365 * 12 * scaling.DAY * scaling.DATABASE_BYTES / 1e12
    assert f"A year keeps {year:.0f} TB" in PAGE


def test_at_a_hundred_a_second_the_named_services_and_no_others_need_more_pods_than_are_configured() -> None:
    above = {
        name for name in scaling.PROCESSOR if scaling.replicas(name, 100) > generate._MOST_PODS.get(name, 20)
    }
    assert above == {"gateway", "recorder"}


def test_the_least_pods_and_the_share_of_a_core_are_those_of_the_manifests() -> None:
    prod = yaml.safe_load((ROOT / "k8s/overlays/prod/kustomization.yaml").read_text(encoding="utf-8"))
    assert "(gateway|indexer|retriever)" in prod["patches"][0]["target"]["name"]
    [target] = {
        metric["resource"]["target"]["averageUtilization"]
        for each in yaml.safe_load_all(
            (ROOT / "k8s/components/hpa/autoscalers.yaml").read_text(encoding="utf-8")
        )
        for metric in each["spec"]["metrics"]
    }
    assert target == round(100 * scaling.BUSY)
