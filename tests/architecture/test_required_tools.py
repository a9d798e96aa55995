"""In CI a check whose program is missing fails; elsewhere it is skipped with a message."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from k8s.checks.__main__ import check
from k8s.checks.render import KubectlMissing
from k8s.checks.tools import Missing
from tests import tools

ROOT = Path(__file__).parents[2]


def without_promtool() -> Sequence[str]:
    raise Missing("promtool is not installed")


def without_kubectl() -> Sequence[str]:
    raise KubectlMissing("kubectl is not installed")


@pytest.mark.parametrize("find_problems", [without_promtool, without_kubectl])
def test_a_missing_program_fails_the_check_in_ci(
    find_problems: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    assert check("alerts", find_problems) == 1  # type: ignore[arg-type]
    assert "FAIL" in capsys.readouterr().out
    monkeypatch.delenv("CI")
    assert check("alerts", find_problems) == 0  # type: ignore[arg-type]
    assert "skip" in capsys.readouterr().out


def test_a_test_without_its_program_fails_in_ci_and_skips_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "REQUIRED", True)
    with pytest.raises(pytest.fail.Exception, match="no-such-program is not installed"):
        tools.find_tool("no-such-program", "package")
    monkeypatch.setattr(tools, "REQUIRED", False)
    with pytest.raises(pytest.skip.Exception, match="no-such-program is not installed"):
        tools.find_tool("no-such-program", "package")


def test_ci_installs_the_programs_and_runs_what_the_readme_names() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert re.findall(r"^make ([a-z ]+)$", script, re.MULTILINE) == ["check docs", "test"]
    assert ".ci/tools" in script
    installer = (ROOT / ".ci/tools").read_text(encoding="utf-8")
    loop = re.search(r"^for program in (.*); do$", installer, re.MULTILINE)
    assert loop is not None
    assert set(loop[1].split()) >= {
        "kubectl",
        "promtool",
        "prometheus",
        "pgbouncer",
        "npm",
        "node",
        "chromium",
    }
    readme = (ROOT / "README.md").read_text(encoding="utf-8") + (ROOT / "CONTRIBUTING.md").read_text(
        encoding="utf-8"
    )
    for command in ("make check", "make test", "make docs"):
        assert command in readme
