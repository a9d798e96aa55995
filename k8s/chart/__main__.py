"""`python -m k8s.chart FOLDER`: write the Helm chart into a folder."""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from k8s.chart.objects import MARKS, SETTINGS, VERSION, Key, marked, services, variants
from k8s.chart.tree import BASE, Variants, chosen, entry, switch
from k8s.checks.render import NEEDED

_VALUES = Path(__file__).with_name("values.yaml")
_ROOM = {"NetworkPolicy": "network-policies", "ScaledObject": "keda", "HorizontalPodAutoscaler": "hpa"}


def main() -> None:
    """Write the chart."""
    folder = Path(sys.argv[1])
    write(folder)
    print(f"{folder}: the chart of version {VERSION}; helm install nuggetstream {folder} --values YOURS")


def write(folder: Path) -> None:
    """Write Chart.yaml, the values with their schema, and the templates.

    Raises:
        KubectlMissing, Unrenderable: see `k8s.checks.render`.
    """
    rendered = variants()
    known = services(rendered[BASE])
    objects: defaultdict[Key, dict[str, Any]] = defaultdict(dict)
    for component, manifests in rendered.items():
        for key, manifest in manifests.items():
            objects[key][component] = marked(manifest, known)
    files: defaultdict[str, list[str]] = defaultdict(list)
    for (kind, name), found in sorted(objects.items(), key=lambda item: item[0][::-1]):
        room = "settings" if kind == "ConfigMap" and name != "grafana" else _ROOM.get(kind, name)
        files[room] += template({component: found.get(component) for component in rendered}, name)
    (folder / "templates").mkdir(parents=True, exist_ok=True)
    for room, lines in files.items():
        (folder / "templates" / f"{room}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "templates" / "choices.yaml").write_text(_choices(), encoding="utf-8")
    chart = {"apiVersion": "v2", "name": "nuggetstream", "version": VERSION, "appVersion": VERSION}
    chart |= {"description": "Evaluation of battles between LLM and RAG systems", "kubeVersion": ">=1.31.0-0"}
    (folder / "Chart.yaml").write_text(yaml.safe_dump(chart, sort_keys=False), encoding="utf-8")
    values = _VALUES.read_text(encoding="utf-8") + yaml.safe_dump({"services": known}, sort_keys=False)
    (folder / "values.yaml").write_text(values, encoding="utf-8")
    schema = json.dumps(schema_of(yaml.safe_load(values)), indent=1)
    (folder / "values.schema.json").write_text(schema + "\n", encoding="utf-8")


def template(found: Variants, name: str) -> Iterator[str]:
    """The lines of one object: a block of its own if only some components have it."""
    present = [component for component, manifest in found.items() if manifest is not None]
    own = [component for component in present if NEEDED.get(component) not in present]
    if BASE not in present:
        yield chosen(own)
        found = {
            BASE: found[own[0]],
            **{component: found[component] for component in present if component != own[0]},
        }
    yield "---"
    for field in dict.fromkeys(field for manifest in found.values() for field in manifest):
        inner = {component: manifest.get(field) for component, manifest in found.items()}
        lines = (
            data(inner, SETTINGS[name]) if field == "data" and name in SETTINGS else entry(field, inner, 0)
        )
        yield from map(filled, lines)
    if BASE not in present:
        yield "{{- end }}"


def data(found: Variants, value: str) -> Iterator[str]:
    """The settings of a ConfigMap; those among the values of the chart stand over them."""
    yield "data:"
    yield "{{- $data := dict }}"
    for component, settings in found.items():
        new = {
            name: text
            for name, text in settings.items()
            if component == BASE or found[BASE].get(name) != text
        }
        if not new:
            continue
        if component != BASE:
            yield chosen([component])
        for name, text in new.items():
            expression = f"(tpl {json.dumps(filled(text))} $)" if "@@" in text else json.dumps(text)
            yield f"{{{{- $_ := set $data {json.dumps(name)} {expression} }}}}"
        if component != BASE:
            yield "{{- end }}"
    yield f"{{{{- range $name, $setting := mergeOverwrite $data $.Values.{value} }}}}"
    yield "  {{ $name }}: {{ $setting | toString | quote }}"
    yield "{{- end }}"


def filled(line: str) -> str:
    """A line with the actions of Helm in place of marks."""
    indent = len(line) - len(line.lstrip())
    if "@@pod@@" in line:
        return f"{{{{- with $.Values.pod }}}}{{{{ toYaml . | nindent {indent} }}}}{{{{- end }}}}"
    line = re.sub(r"'@@value ([\w.]+)@@'", r"{{ $.Values.\1 }}", line)
    line = re.sub(r"'@@yaml ([\w.]+)@@'", rf"{{{{- toYaml $.Values.\1 | nindent {indent + 2} }}}}", line)
    for mark, action in MARKS.items():
        line = line.replace(mark, action)
    return line


def _choices() -> str:
    """A template without objects that refuses components which do not go together."""
    lines = [
        f"{{{{- if and $.Values.components.{switch(name)} (not $.Values.components.{switch(needed)}) }}}}"
        f'{{{{ fail "components.{switch(name)} needs components.{switch(needed)}" }}}}{{{{- end }}}}'
        for name, needed in NEEDED.items()
    ]
    lines.append(
        "{{- if and $.Values.components.keda $.Values.components.hpa }}"
        '{{ fail "components.keda and components.hpa both set numbers of replicas: choose one" }}{{- end }}'
    )
    return "\n".join(lines) + "\n"


def schema_of(values: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema under which a name that the chart does not know is an error."""
    free = {"pod", *SETTINGS.values()}
    properties: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and name not in free and name != "resources":
            properties[name] = schema_of(value)
        else:
            kinds = {bool: "boolean", int: "integer", str: "string", dict: "object"}
            properties[name] = {"type": kinds[type(value)]}
    return {"type": "object", "additionalProperties": False, "properties": properties}


if __name__ == "__main__":
    main()
