"""The Python of the README and of docs/python.md runs as it is printed."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
VOTES = "model_a,model_b,winner\n" + "atlas,birch,a\nbirch,atlas,a\natlas,birch,tie\natlas,birch,a\n" * 10


def blocks(page: str) -> list[str]:
    return _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_python_of_the_readme_runs_on_a_file_of_votes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "votes.csv").write_text(VOTES, encoding="utf-8")
    (block,) = [block for block in blocks("README.md") if "ns.rate" in block]
    assert len(block.split("\n\n")[-1].splitlines()) <= 5
    exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "95% interval" in printed
    assert "atlas" in printed
    assert "NextBattle(a='atlas', b='birch'" in printed


def test_the_examples_of_the_python_page_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    titles = []
    for block in blocks("docs/python.md"):
        if "ns.Client" in block:
            continue  # needs a platform: the end-to-end tests run it
        exec(compile(block, "docs/python.md", "exec"), names)
        titles.append(capsys.readouterr().out.splitlines()[0])
    assert titles == [
        "Ratings",
        "Ratings over time",
        "Nugget scores (2 nuggets, 1 vital)",
        "Agreement",
        "Agreement (Krippendorff's alpha)",
        "Cover@1, answered from grade 3 on",
        "Means per group",
    ]


def test_every_public_function_is_on_the_python_page() -> None:
    import nuggetstream as ns

    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    assert [name for name in ns.__all__ if f"ns.{name}" not in page] == []
