"""What kustomize renders, prepared for a chart: no hashes in names, and marks where the chart has values."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from k8s.checks.render import COMPONENTS, K8S, NEEDED, Manifest, pod_template, render_with

SETTINGS = {"settings": "settings", "model-settings": "modelSettings", "scraper-settings": "scraperSettings"}
VERSION = yaml.safe_load((K8S / "base/kustomization.yaml").read_text(encoding="utf-8"))["images"][0]["newTag"]
RUNBOOKS = "https://docs.example/operations/alerts.html"  # in each alert, before the name of its section
OTHERS = ("ingress", "keda", "monitoring")  # namespaces
_HASH = re.compile(r"-[bcdfghkmt0-9]{10}$")
_IMAGE = re.compile(rf"(nuggetstream-[a-z]+):{re.escape(VERSION)}")
# A mark in a text of a manifest -> the action of Helm that takes its place.
MARKS = {
    "@@registry@@": "{{ with $.Values.image.registry }}{{ . }}/{{ end }}",
    "@@tag@@": "{{ $.Values.image.tag | default $.Chart.AppVersion }}",
    "@@namespace@@": "{{ $.Release.Namespace }}",
    "@@host@@": "{{ $.Values.host }}",
    "@@runbooks@@": "{{ $.Values.runbooks }}",
    "@@release@@": "{{ $.Values.monitoringRelease }}",
    "@@cidr@@": '{{ required "set databaseOutside.cidr to the addresses of your database, as in 10.1.2.3/32" '
    "$.Values.databaseOutside.cidr }}",
    "@@checksum@@": '{{ include (print $.Template.BasePath "/settings.yaml") $ | sha256sum }}',
    **{f"@@{name}@@": f"{{{{ $.Values.namespaces.{name} }}}}" for name in OTHERS},
}
Key = tuple[str, str]  # kind and name


def variants() -> dict[str, dict[Key, Manifest]]:
    """The objects of the base, and those of the base with each component, under the component's name."""
    by_name = {path.name: path for path in COMPONENTS}
    found = {"": by_key(render_with(()))}
    for name, path in by_name.items():
        needed = (by_name[NEEDED[name]],) if name in NEEDED else ()
        found[name] = by_key(render_with((*needed, path)))
    return found


def by_key(manifests: list[Manifest]) -> dict[Key, Manifest]:
    """The objects by kind and name, without hashes of contents in names, and without the namespace itself."""
    hashed = {
        name: _HASH.sub("", name)
        for manifest in manifests
        if manifest["kind"] == "ConfigMap" and _HASH.search(name := manifest["metadata"]["name"])
    }
    plain = [mapped(manifest, lambda text, _: hashed.get(text, text)) for manifest in manifests]
    return {(m["kind"], m["metadata"]["name"]): m for m in plain if m["kind"] != "Namespace"}


def services(base: Mapping[Key, Manifest]) -> dict[str, dict[str, Any]]:
    """Replicas and resources of each service, as values of the chart."""
    return {
        name: {
            "replicas": manifest["spec"]["replicas"],
            "resources": manifest["spec"]["template"]["spec"]["containers"][0]["resources"],
        }
        for (kind, name), manifest in sorted(base.items())
        if kind == "Deployment"
    }


def marked(manifest: Manifest, known: Mapping[str, Mapping[str, Any]]) -> Manifest:
    """A copy of an object with marks where the chart has values."""
    result: Manifest = mapped(manifest, _marked)
    name, spec = result["metadata"]["name"], result.get("spec", {})
    result["metadata"]["namespace"] = "@@namespace@@"
    if result["kind"] == "Deployment":
        if "replicas" in spec:
            spec["replicas"] = f"@@value services.{name}.replicas@@"
        spec["template"]["spec"]["containers"][0]["resources"] = f"@@yaml services.{name}.resources@@"
    for least in {"minReplicas", "minReplicaCount"} & spec.keys():
        if spec[least] == known[name]["replicas"]:
            spec[least] = f"@@value services.{name}.replicas@@"
    if (template := pod_template(result)) is not None:
        template["metadata"].setdefault("annotations", {})["checksum/settings"] = "@@checksum@@"
        if result["kind"] == "Deployment":
            template["spec"]["@@pod@@"] = "@@pod@@"
    return result


def mapped(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """A copy of a tree of YAML with every text changed, which depends on the text and its key; keys stay."""
    if isinstance(value, dict):
        return {name: mapped(item, change, name) for name, item in value.items()}
    if isinstance(value, list):
        return [mapped(item, change, key) for item in value]
    return change(value, key) if isinstance(value, str) else value


def _marked(text: str, key: str) -> str:
    if key == "kubernetes.io/metadata.name" and text in OTHERS:
        return f"@@{text}@@"
    text = _IMAGE.sub(r"@@registry@@\1:@@tag@@", text)
    text = text.replace("arena.example", "@@host@@").replace("192.0.2.10/32", "@@cidr@@")
    text = text.replace(RUNBOOKS, "@@runbooks@@")
    text = "@@release@@" if text == "kube-prometheus-stack" else text
    return re.sub(r"(?<=\.)nuggetstream\b", "@@namespace@@", text)
