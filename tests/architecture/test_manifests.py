"""What operators deploy agrees with the code: names, ports, patience, metrics. And the checks check."""

import copy
import inspect
import json
import re
import shutil
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Counter, Gauge, Histogram

from deploy import generate, lock
from k8s.chart.objects import RUNBOOKS
from k8s.checks import rules, schemas
from k8s.checks.render import (
    COMPONENTS,
    K8S,
    NEEDED,
    OVERLAYS,
    Manifest,
    combinations,
    name_of,
    pod_template,
    render,
    render_with,
)
from nuggetstream.domain.pipeline import PIPELINE, Stage
from services.cli.wiring.access_settings import AccessSettings
from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.entry_settings import EntrySettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.registry import SERVICES
from services.cli.wiring.retrieval import RetrievalSettings
from services.cli.wiring.settings import PipelineSettings, PlatformSettings, ServerSettings
from services.gateway.battles.ingest import ingest_stage
from services.recorder.stage import build as recorder_stage
from services.runtime import metrics
from services.runtime.llm.settings import LLMSettings
from services.wire.topology import consumers
from tests.tools import REQUIRED

ROOT = K8S.parent
DEPLOY = ROOT / "deploy"
SETTINGS = (
    AccessSettings,
    EntrySettings,
    PlatformSettings,
    PipelineSettings,
    FetchSettings,
    RetrievalSettings,
    EmbeddingSettings,
    ServerSettings,
    LLMSettings,
)
OURS = re.compile(r"\b(?:NUGGETSTREAM|OPENAI)_[A-Z0-9_]+\b")
# What the kubelet reports about the volumes of pods.
KUBELET = {"kubelet_volume_stats_available_bytes", "kubelet_volume_stats_capacity_bytes"}
# Read by click, and by compose: no settings class knows them.
BESIDES = {"NUGGETSTREAM_SERVICE", "NUGGETSTREAM_TAG"}
ALIASES = {f"OPENAI_{name}": f"NUGGETSTREAM_LLM_{name}" for name in ("API_KEY", "BASE_URL")}
MOST_SETTINGS = 70  # who has more to choose from finds nothing

needs_kubectl = pytest.mark.skipif(
    shutil.which("kubectl") is None and not REQUIRED, reason="kubectl is not installed"
)


def variables() -> set[str]:
    """Every environment variable that a settings class reads."""
    found = set(ALIASES)
    for settings in SETTINGS:
        prefix = str(settings.model_config["env_prefix"])
        found |= {f"{prefix}{name}".upper() for name in settings.model_fields}
    return found


def metric_names() -> set[str]:
    """Every name under which a metric of ours is scraped."""
    endings = {Counter: ["_total"], Gauge: [""], Histogram: ["_bucket", "_count", "_sum"]}
    return {
        described.name + ending
        for metric in vars(metrics).values()
        if type(metric) in endings
        for described in metric.describe()
        for ending in endings[type(metric)]
    }


def words(expression: str) -> set[str]:
    """The metric names of a PromQL expression."""
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on)\s*\([^)]*\)", " ", expression)
    return set(re.findall(r"\b(?:nuggetstream|messaging|gen_ai|http|rpc|db|kubelet)_[a-z_]+\b", bare))


@pytest.fixture(scope="module")
def overlays() -> dict[str, list[Manifest]]:
    return {folder.name: render(folder) for folder in OVERLAYS}


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    text = (DEPLOY / "grafana/dashboards/nuggetstream.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def panels() -> list[dict[str, Any]]:
    return list(dashboard()["panels"])


def test_alerts_are_written_against_metrics_that_exist() -> None:
    for rule in alerts():
        used = words(rule["expr"])
        assert used, rule["alert"]
        assert used <= metric_names() | KUBELET, rule["alert"]


def test_every_alert_names_its_section_of_the_manual() -> None:
    for rule in alerts():
        url = rule["annotations"].get("runbook_url", "")
        page, _, anchor = url.partition("#")
        assert page == RUNBOOKS, (rule["alert"], url)
        text = (ROOT / "docs/operations/alerts.md").read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in anchors, (rule["alert"], url)


def test_every_alert_has_a_test() -> None:
    tests = (DEPLOY / "prometheus/alerts_test.yaml").read_text(encoding="utf-8")
    for rule in alerts():
        fires = re.search(rf"alertname: {rule['alert']}\n\s+exp_alerts:\n\s+- ", tests)
        assert fires is not None, rule["alert"]


def test_panels_are_written_against_metrics_that_exist() -> None:
    for panel in panels():
        used = set().union(*(words(target["expr"]) for target in panel["targets"]))
        assert used, panel["title"]
        assert used <= metric_names(), panel["title"]


def test_every_variable_of_the_dashboard_chooses_what_a_panel_shows() -> None:
    used = {
        name
        for panel in panels()
        for each in panel["targets"]
        for name in re.findall(r"=~\"\$(\w+)\"", each["expr"])
    }
    assert used == {variable["name"] for variable in dashboard()["templating"]["list"]}
    assert used == {"arena", "stage", "model"}


def test_no_two_panels_share_a_place_or_an_id() -> None:
    assert len({panel["id"] for panel in panels()}) == len(panels())
    places = [panel["gridPos"] for panel in panels()]
    cells = [
        (x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])
    ]
    assert len(cells) == len(set(cells))


def test_a_metric_that_does_not_exist_would_be_noticed() -> None:
    expression = 'sum by (stage) (rate(nuggetstream_dead_letter_total{stage="judge"}[5m]))'
    assert words(expression) == {"nuggetstream_dead_letter_total"}
    assert not words(expression) <= metric_names()


def test_kubernetes_has_the_alerts_of_compose() -> None:
    rule = yaml.safe_load((K8S / "components/monitoring/alerts.yaml").read_text(encoding="utf-8"))
    file = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text(encoding="utf-8"))
    assert rule["spec"]["groups"] == file["groups"]


@pytest.mark.parametrize(
    "path",
    [*sorted(DEPLOY.glob("compose*.yaml")), DEPLOY / ".env.example", DEPLOY / "Dockerfile",
     *sorted(K8S.rglob("*.yaml")), *sorted((K8S / "base").glob("*.env"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)  # fmt: skip
def test_every_variable_that_is_set_is_read(path: Path) -> None:
    assert set(OURS.findall(path.read_text(encoding="utf-8"))) <= variables() | BESIDES


def test_the_page_of_settings_lists_every_variable() -> None:
    page = (ROOT / "docs/operations/settings.md").read_text(encoding="utf-8")
    rows = {match[1]: match[0] for match in re.finditer(r"^\| `([A-Z0-9_]+)`.*", page, re.MULTILINE)}
    assert set(rows) == variables() - set(ALIASES) | {"NUGGETSTREAM_SERVICE", "NUGGETSTREAM_API_KEY"}
    assert [alias for alias, name in ALIASES.items() if f"also read from `{alias}`" not in rows[name]] == []
    assert len(rows) <= MOST_SETTINGS


def test_compose_and_the_base_and_the_image_know_every_service() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    built = {name for name, service in compose.items() if "build" in service}
    assert built == set(SERVICES)
    assert set(deployments()) == set(SERVICES)
    assert {path.stem for path in (DEPLOY / "requirements").glob("*.txt")} >= set(SERVICES)
    assert {name for name in SERVICES if (ROOT / "services" / name).is_dir()} == set(SERVICES)


def test_what_is_written_from_the_pipeline_is_current() -> None:
    assert generate.stale() == [], "run `make proto`"


def documents(*paths: Path) -> Iterator[Manifest]:
    """All objects of some files."""
    for path in paths:
        yield from yaml.safe_load_all(path.read_text(encoding="utf-8"))


def deployments() -> dict[str, Manifest]:
    """The Deployments of the base, by name."""
    found = documents(*sorted((K8S / "base").glob("*.yaml")))
    own = [manifest for manifest in found if manifest["kind"] == "Deployment"]
    return {manifest["metadata"]["name"]: manifest for manifest in own if "selector" in manifest["spec"]}


def longest_attempt(service: str) -> float:
    if service in PIPELINE:
        return PIPELINE[Stage(service)].deadline
    build = {"gateway": ingest_stage, "recorder": recorder_stage}[service]
    return float(inspect.signature(build).parameters["deadline"].default)


@pytest.mark.parametrize("service", sorted(set(SERVICES) - {"rater"}))  # which has no stage
def test_draining_outlasts_the_longest_attempt(service: str) -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"][service]
    grace = float(compose["environment"]["NUGGETSTREAM_GRACE"])
    assert grace > longest_attempt(service)
    assert float(compose["stop_grace_period"].removesuffix("s")) >= grace + 5
    env = deployments()[service]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "NUGGETSTREAM_GRACE", "value": f"{grace:g}"} in env


def test_there_is_one_trigger_for_every_durable_consumer() -> None:
    keda = K8S / "components/keda"
    objects = list(documents(keda / "scaled-objects.yaml", keda / "stages.yaml"))
    triggers = [t["metadata"] for each in objects for t in each["spec"]["triggers"] if t["type"] != "cpu"]
    named = [(trigger["stream"], trigger["consumer"]) for trigger in triggers]
    assert len(named) == len(set(named))
    assert set(named) == {(spec.stream, spec.durable) for spec in consumers()}
    assert {each["spec"]["scaleTargetRef"]["name"] for each in objects} == set(SERVICES) - {"rater"}
    assert all(each["spec"]["fallback"]["replicas"] > 1 for each in objects)
    by_processor = documents(K8S / "components/hpa/autoscalers.yaml")
    assert {each["spec"]["scaleTargetRef"]["name"] for each in by_processor} == set(SERVICES) - {"rater"}


@pytest.mark.slow
@needs_kubectl
def test_only_stages_that_ask_a_model_hold_its_key(overlays: dict[str, list[Manifest]]) -> None:
    for manifests in overlays.values():
        holders = {m["metadata"]["name"] for m in manifests if "nuggetstream-model" in json.dumps(m)}
        assert holders == {"nuggetizer", "assigner", "judge"}
        for manifest in manifests:
            if manifest["metadata"]["name"] in holders and manifest["kind"] == "Deployment":
                assert "model-settings" in json.dumps(manifest)


@pytest.mark.slow
@needs_kubectl
def test_the_broker_keeps_as_many_copies_as_it_has_members(overlays: dict[str, list[Manifest]]) -> None:
    for name, manifests in overlays.items():
        (broker,) = [m for m in manifests if name_of(m) == "StatefulSet nats"]
        (settings,) = [m for m in manifests if re.match(r"ConfigMap settings-\w+$", name_of(m))]
        assert settings["data"]["NUGGETSTREAM_NATS_REPLICAS"] == str(broker["spec"]["replicas"]), name
        (config,) = [m for m in manifests if re.match(r"ConfigMap nats-\w+$", name_of(m))]
        assert "sync_interval: always" in config["data"]["nats.conf"]


def test_no_broker_is_open() -> None:
    assert "password: $NATS_PASSWORD" in (DEPLOY / "nats.conf").read_text(encoding="utf-8")
    for component in "nats-cluster", "nats-single":
        config = (K8S / "components" / component / "nats.conf").read_text(encoding="utf-8")
        assert re.search(r"^authorization \{\n  include users.conf\n\}$", config, re.MULTILINE), component


def test_the_services_of_compose_know_the_brokers_password_and_the_gateway_its_name() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    password = services["nats"]["environment"]["NATS_PASSWORD"]
    assert password.startswith("${NATS_PASSWORD:?")
    for name in {*SERVICES, "migrate", "bootstrap"}:
        assert services[name]["environment"]["NUGGETSTREAM_NATS_PASSWORD"] == password, name
    assert "gateway" in services["gateway"]["environment"]["NUGGETSTREAM_ALLOWED_HOSTS"]
    settings = (K8S / "base/settings.env").read_text(encoding="utf-8")
    assert re.search(r"^NUGGETSTREAM_ALLOWED_HOSTS=gateway,", settings, re.MULTILINE)


LOCKS = [*SERVICES, "build", "ci"]


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_an_image_is_fixed_by_version_and_hash(name: str) -> None:
    text = (DEPLOY / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    blocks = [block for block in re.split(r"\n(?! )", text) if block and not block.startswith("#")]
    assert blocks
    constraints = set((ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    normal = {re.sub(r"[-_.]+", "-", line).lower() for line in constraints}
    for block in blocks:
        requirement, *digests = re.split(r"\s*\\\n\s*", block.strip())
        assert re.sub(r"[-_.]+", "-", requirement).lower() in normal, requirement
        assert digests, requirement
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", digest) for digest in digests), requirement


@pytest.mark.parametrize("name", SERVICES)
def test_the_lock_of_an_image_has_every_package_that_the_service_needs(name: str) -> None:
    text = (DEPLOY / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))
    assert lock.needed(lock.extras_of(name)) <= listed


def test_the_image_of_the_gateway_writes_leaderboards_as_parquet() -> None:
    text = (DEPLOY / "requirements" / "gateway.txt").read_text(encoding="utf-8")
    assert {"polars", "polars-runtime-32"} <= set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))


def test_the_image_and_ci_install_by_hash() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    installs = re.findall(r"pip install (.*?);", re.sub(r"\\\n\s*", "", dockerfile))
    assert len(installs) == 5
    without = [install for install in installs if "--require-hashes" not in install]
    assert [install.split()[-1] for install in without] == ["torch", "/opt/build/wheel/*.whl"]
    workflow = (ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(workflow)["jobs"]["check"]["env"]["HASHES"] == "1"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in ("ci", "checkov"):
        assert f"--require-hashes --no-deps --requirement deploy/requirements/{name}.txt" in makefile
    assert f"install --quiet --no-compile --disable-pip-version-check {lock.CHECKOV}\n" in makefile


@pytest.mark.parametrize("name", ["ci", "checkov"])
def test_every_package_of_a_tool_has_a_version_and_a_hash(name: str) -> None:
    text = (DEPLOY / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    blocks = re.findall(r"^[a-z0-9-]+==\S+(?: \\\n    --hash=sha256:[0-9a-f]{64})+$", text, re.MULTILINE)
    assert len(blocks) == len(re.findall(r"^\S+==", text, re.MULTILINE)) > 50
    versions = dict(block.split(" ", 1)[0].split("==") for block in blocks)
    if name == "ci":
        assert {"sphinx", "furo", "myst-nb", "hatchling"} <= set(versions)
        assert versions.items() <= lock.pinned().items()
    else:
        assert f"checkov=={versions['checkov']}" == lock.CHECKOV


BROKERS = {
    "deploy/nats.conf": "deploy/compose.yaml",
    "k8s/components/nats-cluster/nats.conf": "k8s/base/settings.env",
    "k8s/components/nats-single/nats.conf": "k8s/overlays/dev/kustomization.yaml",
}


@pytest.mark.parametrize("config", BROKERS)
def test_all_streams_together_fit_the_broker_with_a_tenth_to_spare(config: str) -> None:
    (gigabytes,) = re.findall(r"max_file_store: (\d+)GB", (ROOT / config).read_text(encoding="utf-8"))
    settings = (ROOT / BROKERS[config]).read_text(encoding="utf-8")
    (total,) = re.findall(r'NUGGETSTREAM_NATS_STREAM_BYTES(?:=|: ")(\d+)', settings)
    assert int(total) <= 0.9 * int(gigabytes) * 1024**3
    assert int(total) >= 0.5 * int(gigabytes) * 1024**3  # a disk that is paid for is used


@needs_kubectl
@pytest.mark.parametrize("overlay", [folder.name for folder in OVERLAYS])
def test_an_overlay_follows_every_rule(overlays: dict[str, list[Manifest]], overlay: str) -> None:
    assert {"dev", "prod"} == set(overlays)
    assert rules.problems(overlays[overlay], policies=True) == []


def test_every_component_is_tried_with_every_other() -> None:
    assert {path.name for path in COMPONENTS} == {
        "database-outside", "database-owner", "gateway-api", "grpc-tls", "hpa", "ingress", "keda",
        "monitoring", "nats-cluster", "nats-exporter", "nats-single", "nats-tls", "network-policies",
        "postgres", "postgres-exporter", "retention", "retriever-model",
    }  # fmt: skip
    tried = [{path.name for path in chosen} for chosen in combinations()]
    names = {path.name for path in COMPONENTS}
    assert all({name} | {NEEDED.get(name, name)} in tried for name in names)
    assert set() in tried
    assert names in tried
    together = [found for found in tried if len(found) > 2]
    for one, other in permutations(names, 2):
        assert any({one, other} <= found for found in together)
        assert any(one in found and other not in found for found in together) or NEEDED.get(one) == other
        assert any(not {one, other} & found for found in together)
    assert all(NEEDED.get(name, name) in found for found in tried for name in found)


def pod(manifest: Manifest) -> Manifest:
    template = pod_template(manifest)
    assert template is not None
    return template["spec"]


def env(manifest: Manifest, name: str) -> Manifest:
    return next(entry for entry in pod(manifest)["containers"][0]["env"] if entry["name"] == name)


MISTAKES = {
    "NUGGETSTREAM_LLM_API_KEY is not read from a Secret": lambda m: env(m, "NUGGETSTREAM_LLM_API_KEY").update(
        valueFrom={"configMapKeyRef": {"name": "x", "key": "y"}}
    ),
    "has no livenessProbe": lambda m: pod(m)["containers"][0].pop("livenessProbe"),
    "requests no ephemeral-storage": lambda m: pod(m)["containers"][0]["resources"]["requests"].pop(
        "ephemeral-storage"
    ),
    "has no memory limit": lambda m: pod(m)["containers"][0]["resources"].pop("limits"),
    "may run as root": lambda m: pod(m)["securityContext"].pop("runAsNonRoot"),
    "mounts a service account's token": lambda m: pod(m).pop("automountServiceAccountToken"),
    "is killed after 30 s": lambda m: pod(m).update(terminationGracePeriodSeconds=30),
    "has no disruption budget": lambda m: m["spec"]["template"]["metadata"]["labels"].clear(),
    "has no network policy": lambda m: m["spec"]["template"]["metadata"]["labels"].clear(),
    "there is no ConfigMap": lambda m: pod(m)["containers"][0]["envFrom"][0]["configMapRef"].update(name="x"),
    "keeps capabilities": lambda m: pod(m)["containers"][0]["securityContext"].pop("capabilities"),
    "asks the gRPC port by default": lambda m: pod(m)["containers"][0].update(
        livenessProbe={"exec": {"command": ["nuggetstream", "health", "--live"]}}
    ),
    "names no version": lambda m: pod(m)["containers"][0].update(image="nuggetstream-judge"),
}


@needs_kubectl
@pytest.mark.parametrize("complaint", MISTAKES)
def test_a_mistake_is_noticed(overlays: dict[str, list[Manifest]], complaint: str) -> None:
    manifests = copy.deepcopy(overlays["prod"])
    (judge,) = [manifest for manifest in manifests if name_of(manifest) == "Deployment judge"]
    MISTAKES[complaint](judge)
    assert any(complaint in problem for problem in rules.problems(manifests, policies=True))


@needs_kubectl
def test_the_migration_alone_has_the_owner_of_the_tables() -> None:
    manifests = render_with((K8S / "components/database-owner",))
    assert rules.problems(manifests, policies=False) == []
    keys: dict[tuple[str, str], str] = {}
    for manifest in manifests:
        pod = manifest.get("spec", {}).get("template", {}).get("spec", {})
        for container in (*pod.get("initContainers", ()), *pod.get("containers", ())):
            for variable in container.get("env", ()):
                if variable["name"] == "NUGGETSTREAM_DATABASE_URL":
                    keys[name_of(manifest), container["name"]] = variable["valueFrom"]["secretKeyRef"]["key"]
    assert keys.pop(("Deployment recorder", "migrate")) == "owner-url"
    assert keys[("Deployment recorder", "service")] == "url"
    assert set(keys.values()) == {"url"}


@needs_kubectl
def test_the_cronjob_follows_the_rules_and_a_mistake_in_it_is_noticed() -> None:
    manifests = render_with((K8S / "components/retention",))
    assert rules.problems(manifests, policies=False) == []
    (cronjob,) = (manifest for manifest in manifests if manifest["kind"] == "CronJob")
    template = cronjob["spec"]["jobTemplate"]["spec"]["template"]
    service = template["spec"]["containers"][0]
    assert service["args"] == ["retention", "--older-than", "90d", "--url", "http://gateway"]
    del template["spec"]["securityContext"], service["resources"]
    found = rules.problems(manifests, policies=False)
    assert {"CronJob retention: may run as root", "CronJob retention: has no memory limit"} <= set(found)


@needs_kubectl
def test_a_gateway_without_the_token_of_administrators_and_a_secret_in_settings_are_noticed(
    overlays: dict[str, list[Manifest]],
) -> None:
    manifests = copy.deepcopy(overlays["prod"])
    (gateway,) = [manifest for manifest in manifests if name_of(manifest) == "Deployment gateway"]
    assert "secretKeyRef" in env(gateway, "NUGGETSTREAM_ADMIN_TOKEN")["valueFrom"]
    env(gateway, "NUGGETSTREAM_ADMIN_TOKEN").update(name="X")
    settings = next(m for m in manifests if m["kind"] == "ConfigMap")
    settings["data"]["NUGGETSTREAM_NATS_PASSWORD"] = "x"
    found = "\n".join(rules.problems(manifests, policies=True))
    assert "Deployment gateway: reads no NUGGETSTREAM_ADMIN_TOKEN" in found
    assert "contains the secret NUGGETSTREAM_NATS_PASSWORD" in found


@needs_kubectl
def test_a_misspelt_key_is_noticed_by_the_schemas(overlays: dict[str, list[Manifest]]) -> None:
    pytest.importorskip("kubernetes_validate")
    (judge,) = [copy.deepcopy(m) for m in overlays["prod"] if name_of(m) == "Deployment judge"]
    assert schemas.own_problems([judge]) == []
    pod(judge)["terminationGracePeriod"] = 3
    assert "terminationGracePeriod" in "".join(schemas.own_problems([judge]))


@pytest.mark.slow
@needs_kubectl
def test_a_misspelt_key_of_another_project_is_noticed(overlays: dict[str, list[Manifest]]) -> None:
    if reason := schemas.why_not_foreign():
        pytest.fail(reason) if REQUIRED else pytest.skip(reason)
    prod = copy.deepcopy(overlays["prod"])
    (scaled,) = [m for m in prod if name_of(m) == "ScaledObject judge"]
    scaled["spec"]["minReplicas"] = 1
    (monitor,) = [m for m in prod if m["kind"] == "PodMonitor"]
    monitor["spec"]["podMetricsEndpoints"][0]["port"] = 9464
    found = "\n".join(schemas.foreign_problems([scaled, monitor]))
    assert "minReplicas" in found
    assert "port must be string" in found
