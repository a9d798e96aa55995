"""One YAML template of several variants of an object: with and without each component.

A line stands in the template once. Where variants differ, the template asks which components are chosen. Of
several chosen components that set the same field, the last one in the alphabet decides, as in kustomize.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from k8s.checks.render import NEEDED

ABSENT = None  # a field that is missing; no manifest has a field of value null
BASE = ""  # the name of the variant without components

# What stands in a variant: the name of the component -> the value.
Variants = Mapping[str, Any]


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def switch(component: str) -> str:
    """The name of a component among the values of the chart.

    >>> switch("nats-cluster")
    'natsCluster'
    """
    first, *others = component.split("-")
    return first + "".join(map(str.capitalize, others))


def chosen(components: list[str], *, negated: bool = False) -> str:
    """The opening of a block that stands if one of the components is chosen, or if none is."""
    switches = " ".join(f"$.Values.components.{switch(name)}" for name in components)
    condition = f"or {switches}" if len(components) > 1 else switches
    return f"{{{{- if not ({condition}) }}}}" if negated else f"{{{{- if {condition} }}}}"


def entry(key: str | None, variants: Variants, indent: int) -> Iterator[str]:
    """The lines of a field, or of an item of a list where the key is None."""
    present = {name: value for name, value in variants.items() if value is not ABSENT}
    changed = _changed(variants)
    if BASE not in present:
        adding = [name for name in changed if name in present]
        opening = chosen(adding)
        first = adding[0]
        present = {BASE: present[first], **{name: present[name] for name in present if name != first}}
    elif removing := [name for name in changed if name not in present]:
        opening = chosen(removing, negated=True)
    else:
        opening = ""
    if opening:
        yield opening
    yield from _present(key, present, indent)
    if opening:
        yield "{{- end }}"


def _present(key: str | None, variants: Variants, indent: int) -> Iterator[str]:
    """The lines of a field that every variant has."""
    changed = _changed(variants)
    if not changed:
        yield from plain(key, variants[BASE], indent)
    elif all(isinstance(value, dict) for value in variants.values()):
        yield " " * indent + ("-" if key is None else f"{key}:")
        for name in dict.fromkeys(name for value in variants.values() for name in value):
            inner = {component: value.get(name) for component, value in variants.items()}
            yield from entry(name, inner, indent + 2)
    elif all(isinstance(value, list) for value in variants.values()):
        yield " " * indent + f"{key}:"
        items = {component: _identified(value) for component, value in variants.items()}
        for name in dict.fromkeys(name for value in items.values() for name in value):
            inner = {component: value.get(name) for component, value in items.items()}
            yield from entry(None, inner, indent + 2)
    else:
        for place, name in enumerate(reversed(changed)):
            yield chosen([name]) if not place else chosen([name]).replace("- if", "- else if")
            yield from plain(key, variants[name], indent)
        yield "{{- else }}"
        yield from plain(key, variants[BASE], indent)
        yield "{{- end }}"


def _changed(variants: Variants) -> list[str]:
    """The components whose variant differs from the one without them."""
    without = {name: NEEDED.get(name, BASE) for name in variants if name != BASE}
    return [
        name
        for name, needed in without.items()
        if variants[name] != variants.get(needed if needed in variants else BASE)
    ]


def _identified(items: list[Any]) -> dict[str, Any]:
    """The items of a list by what tells them apart: a path or a name, else the whole item."""
    return {
        str(item.get("mountPath") or item.get("name") or json.dumps(item))
        if isinstance(item, dict)
        else json.dumps(item): item
        for item in items
    }


def plain(key: str | None, value: Any, indent: int) -> Iterator[str]:
    """The lines of a field, or of an item, without a choice; what looks like an action of Helm is none."""
    text = yaml.dump(
        [value] if key is None else {key: value},
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=math.inf,
    )
    for line in re.sub(r"\{\{", '{{ "{{" }}', text).splitlines():
        yield " " * indent + line if line else ""
