"""Writes what follows from the pipeline: services of compose, manifests, import rules, the table of events.

    python deploy/generate.py    after a change of pipeline.py, views/events.py, permissions.py or alerts.yaml

A stage gets a service in compose.yaml, a Deployment, a trigger of KEDA and a target of Prometheus. The stages
of `SPECIAL` need more than a model; their services are written by hand, like those that are no stages. Every
service gets a user of the broker, and its password.
"""

import tomllib
from pathlib import Path
from textwrap import indent
from typing import get_args

from pydantic.fields import FieldInfo

from nuggetstream.domain.pipeline import PIPELINE, Stage
from nuggetstream.views.common import View
from nuggetstream.views.events import OF_KIND, EventView
from services.cli.wiring.registry import GRPC_PORTS
from services.wire.permissions import Permissions, caused_by, permissions
from services.wire.subjects import SUBJECTS

ROOT = Path(__file__).parents[1]
SPECIAL = (Stage.SCRAPER, Stage.INDEXER, Stage.RETRIEVER)
_HEAD = "# Written by deploy/generate.py from nuggetstream/domain/pipeline.py: do not edit.\n"
# Of each other service 20. The rater is not scaled by load: each of its pods computes all boards.
_MOST_PODS = {"gateway": 4, "indexer": 4, "recorder": 4, "retriever": 8}
_NOT_SCALED = "rater"

_COMPOSE = """\
  {stage}:
    <<: *service
    image: nuggetstream-{stage}:${{NUGGETSTREAM_TAG:-{version}}}
    build:
      context: ..
      dockerfile: deploy/Dockerfile
      args: {{SERVICE: {stage}}}
    stop_grace_period: {stopped}s
    environment:
      <<: *{environment}
      NUGGETSTREAM_GRACE: "{grace}"
"""
_PRICES = """\
    volumes:
      - ./prices.toml:/etc/nuggetstream/prices.toml:ro
"""
_MANIFESTS = """\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {stage}
automountServiceAccountToken: false
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {stage}
  labels:
    app.kubernetes.io/name: {stage}
    app.kubernetes.io/component: worker
{asks}spec:
  replicas: 1
  selector:
    matchLabels: {{app.kubernetes.io/name: {stage}}}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {stage}
        app.kubernetes.io/component: worker
{pod_asks}    spec:
      serviceAccountName: {stage}
      # 5 s until no caller uses this pod, {grace} s for the longest attempt, 5 s to drain, and 10 s spare.
      terminationGracePeriodSeconds: {killed}
      containers:
        - name: service
          image: nuggetstream-{stage}
          args: [serve, {stage}, --grpc-port, "7100"]
          env:
            - {{name: NUGGETSTREAM_GRACE, value: "{grace}"}}
{key}          envFrom:
            - configMapRef: {{name: settings}}
{settings}          resources:
            requests: {{cpu: 100m, memory: 384Mi, ephemeral-storage: 256Mi}}
            limits: {{memory: 1Gi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {stage}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{app.kubernetes.io/name: {stage}}}
"""
_ASKS = 'nuggetstream/asks-a-model: "true"\n'
_OF_MODELS = {
    "asks": f"    {_ASKS}",
    "pod_asks": f"        {_ASKS}",
    "key": """\
            - name: NUGGETSTREAM_LLM_API_KEY
              valueFrom: {secretKeyRef: {name: nuggetstream-model, key: api-key, optional: true}}
""",
    "settings": "            - configMapRef: {name: model-settings}\n",
}
_SCALED = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {stage}
spec:
  scaleTargetRef: {{name: {stage}}}
  minReplicaCount: 1
  maxReplicaCount: {most}
  pollingInterval: 10
  cooldownPeriod: 300
  # While KEDA cannot read the broker.
  fallback: {{failureThreshold: 5, replicas: 2}}
  triggers:
    - type: nats-jetstream
      metadata:
        natsServerMonitoringEndpoint: nats-headless.nuggetstream.svc:8222
        account: $G
        stream: ARENA
        consumer: {stage}
        lagThreshold: "20"
"""
_BY_PROCESSOR = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {name}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}
  minReplicas: 1
  maxReplicas: {most}
  metrics:
    - type: Resource
      resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 70}}}}
  behavior:
    scaleDown: {{stabilizationWindowSeconds: 300}}
"""
_USERS_HEAD = """\
# Written by deploy/generate.py from services/wire/permissions.py: do not edit. The secret nuggetstream-broker
# has the password of each user in the key with its name.
"""
_USER = """\
  {{
    user: {name}
    password: $NATS_PASSWORD_{name}
    permissions: {{
      publish: [
{publish}
      ]
      subscribe: [
{subscribe}
      ]
    }}
  }}
"""
_BROKER_USER = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  template:
    spec:
      containers:
        - name: service
          env:
            - name: NUGGETSTREAM_NATS_PASSWORD
              valueFrom: {{secretKeyRef: {{name: nuggetstream-broker, key: {name}, optional: true}}}}
"""


def files() -> dict[str, str]:
    """The text that each file has to have, by its path. The alerts are those of Prometheus's own file."""
    plain = [stage for stage in PIPELINE if stage not in SPECIAL]
    services = " | ".join(f"services.{name}" for name in GRPC_PORTS)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    compose = "\n".join(_in_compose(stage, version) for stage in plain)
    targets = "".join(f"          - {name}:9464\n" for name in GRPC_PORTS)
    images = "".join(f"  - {{name: nuggetstream-{name}, newTag: {version}}}\n" for name in GRPC_PORTS)
    events = "".join(map(_row, OF_KIND.values()))
    alerts = (ROOT / "deploy/prometheus/alerts.yaml").read_text(encoding="utf-8").partition("groups:\n")[2]
    return {
        "deploy/compose.yaml": _with(
            "deploy/compose.yaml", "  # --- stages", "\n  # --- end of stages", compose
        ),
        "deploy/prometheus/prometheus.yaml": _with(
            "deploy/prometheus/prometheus.yaml", "- targets:", "    relabel_configs:", targets
        ),
        "k8s/base/kustomization.yaml": _with("k8s/base/kustomization.yaml", "images:", "", images),
        "k8s/base/stages.yaml": _HEAD + "---\n".join(map(_manifests, plain)),
        "k8s/components/keda/stages.yaml": _HEAD
        + "---\n".join(_SCALED.format(stage=stage, most=_MOST_PODS.get(stage, 20)) for stage in PIPELINE),
        "k8s/components/hpa/autoscalers.yaml": _HEAD
        + "---\n".join(
            _BY_PROCESSOR.format(name=name, most=_MOST_PODS.get(name, 20))
            for name in GRPC_PORTS
            if name != _NOT_SCALED
        ),
        "k8s/components/monitoring/alerts.yaml": _with(
            "k8s/components/monitoring/alerts.yaml", "  groups:", "", indent(alerts, "  ")
        ),
        "k8s/base/broker-passwords.yaml": _HEAD
        + "---\n".join(_BROKER_USER.format(name=name) for name in GRPC_PORTS),
        "k8s/components/nats-cluster/users.conf": _USERS_HEAD + _users(),
        ".importlinter": _with(
            ".importlinter", "    services.cli", "    services.offline", f"    {services}\n"
        ),
        "docs/operations/secure.md": _with(
            "docs/operations/secure.md", "|---|---|", "\n## TLS inside", _causes()
        ),
        "docs/events.md": _with("docs/events.md", "|---|---|---|", "\n`set_by` of", events),
    }


def _with(path: str, start: str, end: str, new: str) -> str:
    """The text of a file with other lines between the line that starts in one way and what follows."""
    text = (ROOT / path).read_text(encoding="utf-8")
    begin = text.index("\n", text.index(start)) + 1
    return text[:begin] + new + (text[text.index(end, begin) :] if end else "")


def _in_compose(stage: Stage, version: str) -> str:
    step = PIPELINE[stage]
    text = _COMPOSE.format(
        stage=stage,
        version=version,
        grace=_grace(stage),
        stopped=_grace(stage) + 10,
        environment="model" if step.asks_model else "platform",
    )
    return text + (_PRICES if step.asks_model else "")


def _manifests(stage: Stage) -> str:
    step, grace = PIPELINE[stage], _grace(stage)
    parts = {name: text if step.asks_model else "" for name, text in _OF_MODELS.items()}
    return _MANIFESTS.format(stage=stage, grace=grace, killed=grace + 20, **parts)


def _users() -> str:
    users = "".join(_user(name, allowed) for name, allowed in permissions().items())
    return f"users: [\n{users}]\n"


def _causes() -> str:
    """The rows of the table of events that each user of the broker can cause."""
    rows = []
    for name in permissions():
        kinds = caused_by(name)
        events = (
            "every event"
            if len(kinds) == len(SUBJECTS)
            else ", ".join(f"`{kind.__name__}`" for kind in kinds)
        )
        rows.append(f"| `{name}` | {events or 'none'} |\n")
    return "".join(rows)


def _user(name: str, allowed: Permissions) -> str:
    lines = {
        field: "\n".join(f'        "{subject}"' for subject in getattr(allowed, field))
        for field in ("publish", "subscribe")
    }
    return _USER.format(name=name, **lines)


def _grace(stage: Stage) -> int:
    """Seconds that work in flight gets when a process stops: more than the longest attempt takes."""
    return round(PIPELINE[stage].deadline) + 10


def _row(kind: type[EventView]) -> str:
    """The row of an event in docs/events.md, from its view."""
    own = {name: field for name, field in kind.model_fields.items() if name not in EventView.model_fields}
    kind_name = own.pop("kind").default
    when = " ".join((kind.__doc__ or "").split()).rstrip(".")
    cells = [f"`{name}`{_about(field)}" for name, field in own.items()]
    return f"| `{kind_name}` | {_lower(when)} | {', '.join(cells)} |\n"


def _about(field: FieldInfo) -> str:
    """What a field is: the sentence in the view, or the fields of its parts."""
    parts = [part for part in (field.annotation, *get_args(field.annotation)) if _is_view(part)]
    if field.description:
        return f" ({_lower(' '.join(field.description.split()).rstrip('.'))})"
    return f" ({', '.join(f'`{name}`' for name in parts[0].model_fields)})" if parts else ""


def _is_view(part: object) -> bool:
    return isinstance(part, type) and issubclass(part, View)


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def stale() -> list[str]:
    """The files that have another text."""
    return [path for path, text in files().items() if not _is_current(ROOT / path, text)]


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def main() -> None:
    """Write the files."""
    for path, text in files().items():
        (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
