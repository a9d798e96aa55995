"""Whatever the offline model had a part in says so, with its measured agreement."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from nuggetstream.domain.offline import APART, MEASURED, NOTICE
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.report.build import write_report
from nuggetstream.report.sections.misses import SECTION
from nuggetstream.report.summary import summarise
from services.cli.results import print_summary
from tests.evaluated import battle, file_of, judgment

ROOT = Path(__file__).parents[2]


def lines(model: str) -> list[dict[str, Any]]:
    return [battle(f"b{n}", judgments=[judgment("a", model=model)], label_model=model) for n in range(3)]


@pytest.mark.parametrize(("model", "said"), [("offline-heuristic", True), ("gpt-5", False)])
def test_results_and_report_say_that_they_are_offline_heuristics(
    tmp_path: Path, model: str, said: bool
) -> None:
    summary = summarise((BattleRow.model_validate(line) for line in lines(model)), 0)
    assert summary.offline == (3 if said else 0)
    printed = StringIO()
    print_summary(Console(file=printed, width=1000), summary, [])
    assert (NOTICE in printed.getvalue()) is said
    results = file_of(tmp_path, lines(model))
    report = write_report(results, tmp_path / "report", sections=(SECTION,))
    assert (NOTICE in report.page.read_text(encoding="utf-8")) is said


def test_readme_and_benchmarks_give_the_numbers_of_the_notice() -> None:
    for name in ("README.md", "benchmarks/README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for share in (MEASURED.nuggets, MEASURED.judge, MEASURED.longer):
            assert f"{share:.3f}" in text, name
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for share in (APART.nuggets, APART.judge, APART.longer):
        assert f"{share:.3f}" in readme
        assert f"{share:.1%}" in NOTICE
