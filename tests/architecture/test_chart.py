"""One template of several variants of an object, as the Helm chart has them."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from k8s.chart.__main__ import schema_of, write
from k8s.chart.tree import entry
from tests.tools import REQUIRED

pytestmark = pytest.mark.slow

needs_helm = pytest.mark.skipif(
    not (shutil.which("helm") and shutil.which("kubectl")) and not REQUIRED,
    reason="helm or kubectl is not installed",
)


def test_what_all_variants_share_stands_once_without_a_choice() -> None:
    assert list(entry("port", {"": 1, "keda": 1}, 2)) == ["  port: 1"]


def test_a_field_that_a_component_adds_or_removes_stands_in_a_choice() -> None:
    added = list(entry("replicas", {"": None, "hpa": None, "keda": 3}, 0))
    assert added == ["{{- if $.Values.components.keda }}", "replicas: 3", "{{- end }}"]
    removed = list(entry("replicas", {"": 3, "hpa": 3, "keda": None}, 0))
    assert removed == ["{{- if not ($.Values.components.keda) }}", "replicas: 3", "{{- end }}"]


def test_the_last_of_several_components_decides_and_a_component_inherits_what_it_needs() -> None:
    lines = list(entry("disk", {"": 1, "nats-cluster": 2, "nats-single": 5, "nats-tls": 2}, 0))
    assert lines == [
        "{{- if $.Values.components.natsSingle }}",
        "disk: 5",
        "{{- else if $.Values.components.natsCluster }}",
        "disk: 2",
        "{{- else }}",
        "disk: 1",
        "{{- end }}",
    ]


def test_items_of_lists_are_matched_by_name_and_actions_of_others_are_quoted() -> None:
    base = [{"name": "a", "value": "{{ $labels.stage }}"}]
    lines = list(entry("env", {"": base, "postgres": [*base, {"name": "b", "value": "2"}]}, 0))
    assert lines == [
        "env:",
        "  - name: a",
        "    value: '{{ \"{{\" }} $labels.stage }}'",
        "{{- if $.Values.components.postgres }}",
        "  - name: b",
        "    value: '2'",
        "{{- end }}",
    ]


def test_a_value_that_the_chart_does_not_know_is_an_error() -> None:
    schema = schema_of({"components": {"keda": False}, "settings": {}, "host": "x"})
    assert schema["additionalProperties"] is False
    assert schema["properties"]["components"]["additionalProperties"] is False
    assert schema["properties"]["settings"] == {"type": "object"}


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chart")
    write(folder)
    return folder


def helm(chart: Path, *values: str) -> subprocess.CompletedProcess[str]:
    arguments = [argument for value in values for argument in ("--set", value)]
    return subprocess.run(
        ["helm", "template", "release", str(chart), "--namespace", "arena", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@needs_helm
def test_values_reach_pods_settings_images_and_the_namespace(chart: Path) -> None:
    done = helm(
        chart,
        "databaseOutside.cidr=10.1.2.3/32",
        "image.registry=registry.example/team",
        "settings.NUGGETSTREAM_LOG_LEVEL=debug",
        "services.judge.replicas=3",
        "pod.priorityClassName=high",
        "namespaces.monitoring=prometheus",
    )
    assert done.returncode == 0, done.stderr
    objects = {(m["kind"], m["metadata"]["name"]): m for m in yaml.safe_load_all(done.stdout) if m}
    assert {m["metadata"]["namespace"] for m in objects.values()} == {"arena"}
    settings = objects["ConfigMap", "settings"]["data"]
    assert settings["NUGGETSTREAM_LOG_LEVEL"] == "debug"
    assert settings["NUGGETSTREAM_ALLOWED_HOSTS"].startswith("gateway,gateway.arena,")
    ports = objects["StatefulSet", "nats"]["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert "monitoring" in [port["name"] for port in ports]  # a port of this name is no namespace
    assert "kubernetes.io/metadata.name: 'prometheus'" in done.stdout
    judge = objects["Deployment", "judge"]["spec"]
    assert (judge["replicas"], judge["template"]["spec"]["priorityClassName"]) == (3, "high")
    image = judge["template"]["spec"]["containers"][0]["image"]
    assert image.startswith("registry.example/team/nuggetstream-judge:")


@needs_helm
@pytest.mark.parametrize(
    ("values", "says"),
    [
        ((), "set databaseOutside.cidr to the addresses of your database"),
        (("components.kedda=true",), "Additional property kedda is not allowed"),
        (
            ("databaseOutside.cidr=10.1.2.3/32", "components.keda=true", "components.hpa=true"),
            "components.keda and components.hpa both set numbers of replicas: choose one",
        ),
        (
            ("databaseOutside.cidr=10.1.2.3/32", "components.natsCluster=false", "components.natsTls=true"),
            "components.natsTls needs components.natsCluster",
        ),
    ],
)
def test_values_that_cannot_work_are_refused_with_the_reason(
    chart: Path, values: tuple[str, ...], says: str
) -> None:
    done = helm(chart, *values)
    assert done.returncode != 0
    assert says in done.stderr
