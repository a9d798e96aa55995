"""Every documented setting reaches the services of compose: by deploy/.env, or by deploy/settings.env."""

import re
from pathlib import Path
from typing import Any

import yaml

from services.cli.wiring.registry import SERVICES

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OURS = {*SERVICES, "migrate", "bootstrap"}


def services(file: str = "compose.yaml") -> dict[str, Any]:
    described: dict[str, Any] = yaml.safe_load((DEPLOY / file).read_text(encoding="utf-8"))["services"]
    return described


def test_all_our_services_and_no_others_read_the_file_of_settings_if_it_exists() -> None:
    read = {name: service["env_file"] for name, service in services().items() if "env_file" in service}
    assert set(read) == OURS
    assert all(files == [{"path": "settings.env", "required": False}] for files in read.values())


def test_every_variable_of_the_example_is_used_by_compose() -> None:
    example = (DEPLOY / ".env.example").read_text(encoding="utf-8")
    used = "".join(path.read_text(encoding="utf-8") for path in DEPLOY.glob("compose*.yaml"))
    listed = set(re.findall(r"^([A-Z_]+)=", example, re.MULTILINE))
    assert listed
    assert listed == set(re.findall(r"\$\{([A-Z_]+)[:}]", used))


def test_the_files_with_an_operators_settings_are_never_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/deploy/.env", "/deploy/settings.env"} <= set(ignored)
