"""The examples of a second judge and a second nuggetizer for compose are complete and scraped."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.cli.registry import SERVICES
from services.wire.declared import Declared, Judges, Nuggetizers

DEPLOY = Path(__file__).parents[2] / "deploy"


@dataclass(frozen=True)
class Example:
    file: str
    declared: type[Declared]
    first: str
    second: str
    service: str


EXAMPLES = [
    Example("two-judges", Judges, "pairwise", "judge-strict", "judge"),
    Example("two-nuggetizers", Nuggetizers, "first", "nuggetizer-second", "nuggetizer"),
]
each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.file)


def read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))
    return content


@each_example
def test_every_process_of_compose_knows_both(example: Example) -> None:
    added, base = read(f"compose.{example.file}.yaml")["services"], read("compose.yaml")["services"]
    all_names, own_name = example.declared.variable, example.declared.own_variable
    told = {name for name, service in added.items() if all_names in str(service)}
    assert told == {*SERVICES, "bootstrap", example.second}
    (declared,) = {added[name]["environment"][all_names] for name in told}
    own = added[example.second]["environment"][own_name]
    assert example.declared.parse(declared).names == (example.first, own)
    assert own_name not in base[example.service]["environment"]  # the base's is the first by default
    for name in told - {example.second}:  # nothing else is changed
        assert set(added[name]) == {"environment"}
        assert set(added[name]["environment"]) == {all_names}


@each_example
def test_the_second_one_is_otherwise_as_the_first(example: Example) -> None:
    second = read(f"compose.{example.file}.yaml")["services"][example.second]
    assert second["extends"] == {"file": "compose.yaml", "service": example.service}
    assert set(second) == {"extends", "depends_on", "environment"}
    variables = {example.declared.variable, example.declared.own_variable, "NUGGETSTREAM_LLM_MODEL"}
    assert set(second["environment"]) == variables
    assert second["depends_on"] == read("compose.yaml")["services"][example.service]["depends_on"]


@each_example
def test_the_second_one_is_scraped(example: Example) -> None:
    (mount,) = read(f"compose.{example.file}.yaml")["services"]["prometheus"]["volumes"]
    source, target, _ = mount.split(":")
    (job,) = read("prometheus/prometheus.yaml")["scrape_configs"]
    assert job["file_sd_configs"] == [{"files": [f"{Path(target).parent}/*.yaml"]}]
    assert read(source) == [{"targets": [f"{example.second}:9464"]}]
