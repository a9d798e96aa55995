"""A demo replaces what a demo left, and nothing that anybody else did."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from services.cli.evaluation.demo_folder import MARK, VECTORS, NotOfADemo, claim, remove_earlier, unmark
from services.cli.main import main


def fill(out: Path, *files: str) -> Path:
    for file in files:
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        (out / file).write_text(f"{file}\n", encoding="utf-8")
    return out


def left_by_a_demo(out: Path) -> Path:
    claim(out)
    fill(
        out, "results.jsonl", "summary.json", "summary.txt", "pages/index.html", "pages/battles-demo-01.html"
    )
    return fill(
        out, "pages/static-style.css", "state/nats/jetstream/x", "state/nuggetstream.db", "state/lock"
    )


def files(out: Path) -> set[str]:
    return {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "kept",
    [
        ("state/keep.txt",),
        ("pages/mine.html",),
        ("results.jsonl",),
        ("results.jsonl", "rejected.jsonl", "summary.json", "summary.txt", "state/nuggetstream.db"),
    ],
)
def test_a_folder_that_no_demo_made_is_refused_and_left_as_it_is(
    tmp_path: Path, kept: tuple[str, ...]
) -> None:
    out = fill(tmp_path / "results", *kept)
    result = CliRunner().invoke(main, ["demo", "--out", str(out)])
    assert result.exit_code == 2
    assert f"{out} has files that no demo wrote: choose another folder with --out" in result.output
    assert files(out) == set(kept)


def test_a_new_or_empty_folder_is_marked_as_the_demo_s(tmp_path: Path) -> None:
    claim(tmp_path / "deep" / "new")
    assert files(tmp_path / "deep" / "new") == {MARK}
    (tmp_path / "empty").mkdir()
    claim(tmp_path / "empty")
    claim(tmp_path / "empty")
    assert files(tmp_path / "empty") == {MARK}


async def test_what_a_demo_left_is_replaced_and_what_was_put_beside_it_stays(tmp_path: Path) -> None:
    own = left_by_a_demo(tmp_path)
    fill(own, "notes.txt", "pages/mine.html", "state/keep.txt", f"state/{VECTORS}")
    claim(own)
    await remove_earlier(own)
    assert files(own) == {
        MARK,
        "notes.txt",
        "pages/mine.html",
        "state/keep.txt",
        "state/lock",
        f"state/{VECTORS}",
    }


def test_results_of_another_kind_take_the_mark_away(tmp_path: Path) -> None:
    fill(left_by_a_demo(tmp_path), "results.jsonl")
    unmark(tmp_path)
    with pytest.raises(NotOfADemo):
        claim(tmp_path)


@pytest.mark.parametrize("command", [("demo",), ("tournament", "demo"), ("up", "--data-dir", "out/state")])
def test_a_file_in_the_way_of_a_folder_is_named_before_anything_starts(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "'out' is a file" in result.output
    assert "starting" not in result.output
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"
