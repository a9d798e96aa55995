"""What the demo shows before its result and beside it: the first line, progress, the browser."""

import subprocess
import sys
import webbrowser
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from services.cli.demo.progress import ProgressLine
from services.cli.evaluation.run import Progress
from tests.e2e.processes import run_here
from tests.evaluated import file_of
from tests.services.demo.test_explain import view


def test_the_first_line_waits_for_no_large_import() -> None:
    probe = "import sys; import services.cli.commands.start.demo; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True).stdout
    assert not {"scipy", "numpy", "openai", "sqlalchemy", "pydantic", "nats"} & set(loaded.split())


def test_progress_is_a_few_lines_where_the_output_is_no_terminal() -> None:
    output = StringIO()
    with ProgressLine("Starting.", Console(file=output, width=80)) as progress:
        progress.phase("not shown")
        for ended in (0, 0, 1, 2, 3, 3):
            progress.battles(Progress(done=ended and ended - 1, failed=min(ended, 1), total=3, cost=None))
    assert output.getvalue() == "Starting.\n3 battles: 0 ended\n3 battles: 3 ended, 1 failed\n"


def test_progress_is_updated_in_place_on_a_terminal() -> None:
    output = StringIO()
    with ProgressLine("Starting.", Console(file=output, force_terminal=True, width=80)) as progress:
        progress.battles(Progress(done=1, failed=0, total=3, cost=None))
    assert "3 battles: 1 ended (0 s)" in output.getvalue()
    assert output.getvalue().count("\n") <= 3  # the first line, and the one that is removed


@pytest.mark.parametrize("opened", [True, False])
def test_open_shows_the_page_of_the_battle_in_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: bool
) -> None:
    urls: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: urls.append(url) or opened)
    file_of(tmp_path, [view(id="other"), view(id="a/b")])
    arguments = ("demo", "--battle", "a/b", "--open", "--out", str(tmp_path))
    page = tmp_path / "pages" / "battles-a-b.html"
    code, output = run_here(*arguments)
    assert (code, f"there is no page {page}" in output, urls) == (2, True, []), output
    page.parent.mkdir()
    page.write_text("<p>", encoding="utf-8")
    code, output = run_here(*arguments)
    assert (code, urls) == (0, [page.as_uri()])
    assert output.startswith("a/b: query of tides\n")
    assert ("no browser could be started" in output) is not opened


def test_a_battle_that_cannot_be_explained_is_rejected_with_the_reason(tmp_path: Path) -> None:
    arguments = ("demo", "--battle", "tides", "--out", str(tmp_path))
    assert run_here(*arguments) == (
        2,
        f"Error: there are no results in {tmp_path}: run `nuggetstream demo` first\n",
    )
    old = view()
    del old["guided"]
    results = file_of(tmp_path, [view(id="other"), old])
    code, output = run_here(*arguments)
    assert (code, f"{results}: 'tides' has no 'guided': run `nuggetstream eval` again" in output) == (2, True)
    file_of(tmp_path, [view(id="other")])
    code, output = run_here(*arguments)
    assert (code, "has no battle 'tides'; some that it has: other" in output) == (2, True)
    code, output = run_here("demo", "--battle", "tides", "--arena")
    assert (code, "so not with --arena" in output) == (2, True)
