"""The example of a second judge for compose is complete: every process knows both, and it is scraped."""

from pathlib import Path
from typing import Any

import yaml

from services.cli.registry import SERVICES
from services.wire.judges import Judges

DEPLOY = Path(__file__).parents[2] / "deploy"
SECOND = "judge-strict"


def read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))
    return content


def test_every_process_of_compose_knows_both_judges() -> None:
    added, base = read("compose.two-judges.yaml")["services"], read("compose.yaml")["services"]
    told = {name for name, service in added.items() if "NUGGETSTREAM_JUDGES" in str(service)}
    assert told == {*SERVICES, "bootstrap", SECOND}
    (declared,) = {added[name]["environment"]["NUGGETSTREAM_JUDGES"] for name in told}
    own = added[SECOND]["environment"]["NUGGETSTREAM_JUDGE_NAME"]
    assert Judges.parse(declared).names == ("pairwise", own)  # the first is the base's, by its default name
    assert "NUGGETSTREAM_JUDGE_NAME" not in base["judge"]["environment"]
    for name in told - {SECOND}:  # nothing else is changed
        assert set(added[name]) == {"environment"}
        assert set(added[name]["environment"]) == {"NUGGETSTREAM_JUDGES"}


def test_the_second_judge_is_otherwise_as_the_first() -> None:
    second = read("compose.two-judges.yaml")["services"][SECOND]
    assert second["extends"] == {"file": "compose.yaml", "service": "judge"}
    assert set(second) == {"extends", "depends_on", "environment"}
    assert set(second["environment"]) == {
        "NUGGETSTREAM_JUDGES",
        "NUGGETSTREAM_JUDGE_NAME",
        "NUGGETSTREAM_LLM_MODEL",
    }
    assert second["depends_on"] == read("compose.yaml")["services"]["judge"]["depends_on"]


def test_the_second_judge_is_scraped() -> None:
    (mount,) = read("compose.two-judges.yaml")["services"]["prometheus"]["volumes"]
    source, target, _ = mount.split(":")
    (job,) = read("prometheus/prometheus.yaml")["scrape_configs"]
    assert job["file_sd_configs"] == [{"files": [f"{target}/*.yaml"]}]
    (file,) = (DEPLOY / source).glob("*.yaml")
    assert yaml.safe_load(file.read_text(encoding="utf-8")) == [{"targets": [f"{SECOND}:9464"]}]
