"""Files that strangers bring cost bounded memory, and a byte order mark loses no battle."""

import csv
import gzip
import os
from pathlib import Path
from threading import Thread

import polars as pl
import pytest

from nuggetstream.files import opening
from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.formats.registry import read_lines
from nuggetstream.files.formats.rows import Container, Row, container_of, rows_in
from nuggetstream.files.opening import UnusableFile, opened, opened_text
from nuggetstream.files.text import first_bytes, read_text, read_text_lines
from nuggetstream.files.writing import write_table

BATTLE = '{"query": "Why?", "a": {"system": "x", "text": "So."}, "b": {"system": "y", "text": "Because."}}\n'


def packed(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content))
    return path


@pytest.mark.parametrize("is_gzipped", [False, True], ids=["plain", "gzipped"])
def test_a_byte_order_mark_loses_no_battle(tmp_path: Path, is_gzipped: bool) -> None:
    content = b"\xef\xbb\xbf" + BATTLE.encode() * 2
    path = tmp_path / "battles.jsonl"
    path.write_bytes(gzip.compress(content) if is_gzipped else content)
    found = list(read_lines(path))
    assert [type(line) for line in found] == [BattleLine, BattleLine]
    with opened_text(path) as text:
        assert text.read() == BATTLE * 2
    assert list(read_text_lines(path)) == [BATTLE, BATTLE]
    assert first_bytes(path).startswith(b'{"query"')


@pytest.mark.slow
def test_a_small_file_that_expands_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_LEAST_EXPANDED", 1_000_000)
    bomb = packed(tmp_path / "bomb.csv.gz", b"a,b,winner\n" + b"x,y,a\n" * 1_000_000)
    for read in (
        lambda: list(rows_in(bomb, Container.CSV)),
        lambda: read_text(bomb),
        lambda: list(read_text_lines(bomb)),
    ):
        with pytest.raises(UnusableFile, match=r"expands to more than 200 times its size.*gunzip"):
            read()
    blanks = packed(tmp_path / "blanks.gz", b" " * 20_000_000)
    with pytest.raises(UnusableFile, match="expands"):
        container_of(blanks)


def test_what_compresses_as_text_does_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_LEAST_EXPANDED", 1_000)
    rows = "".join(f"system {n % 7},system {n % 5},a\n" for n in range(2_000))
    path = packed(tmp_path / "votes.csv.gz", b"a,b,winner\n" + rows.encode())
    assert len(list(rows_in(path, Container.CSV))) == 2_000


def test_a_line_without_end_is_refused_and_many_lines_are_not(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x" * 900 + b"\n" + b"y" * 1000 + b"\n" + b"short\n" * 100_000)
    with opened(path, longest_line=200_000) as file:
        assert sum(1 for _ in file) == 100_002
    path.write_bytes(b"x\n" + b"y" * 400_000)
    with (
        pytest.raises(UnusableFile, match="a line is longer than 0 MB"),
        opened(path, longest_line=300_000) as f,
    ):
        list(f)
    with opened(path, longest_line=None) as file:
        assert len(file.read()) == 400_002


def test_an_array_on_one_line_has_no_longest_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "LONGEST_LINE", 1_000)
    path = tmp_path / "array.json"
    path.write_text("[" + ", ".join([BATTLE.strip()] * 5_000) + "]")
    assert len(list(rows_in(path, Container.JSON))) == 5_000


def test_a_header_has_a_bounded_number_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{n}" for n in range(50_000)) + "\n")
    with pytest.raises(UnusableFile, match=r"wide\.csv:1: has 50,000 columns, more than 5,000"):
        list(rows_in(path, Container.CSV))


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=("two\nlines\n",))
    writer.start()
    assert read_text(pipe) == "two\nlines\n"
    writer.join()


def test_damaged_and_missing_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(BATTLE.encode() * 100)[:-20])
    with pytest.raises(UnusableFile, match=r"cut\.gz"):
        read_text(path)
    with pytest.raises(UnusableFile, match="No such file"):
        first_bytes(tmp_path / "nothing")
    (tmp_path / "latin").write_bytes("Grüße".encode("latin-1"))
    with pytest.raises(UnusableFile, match="is not UTF-8 text"):
        read_text(tmp_path / "latin")


def test_nan_in_a_column_is_a_missing_cell_and_no_system(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    rows = {"model_a": [float("nan"), 1.0], "model_b": ["x", "y"], "winner": ["model_a", "model_b"]}
    pl.DataFrame(rows).write_parquet(path)
    assert [row.value["model_a"] for row in rows_in(path, Container.PARQUET) if isinstance(row, Row)] == [
        None,
        1.0,
    ]


def test_names_that_spreadsheets_would_compute_are_texts_in_tables(tmp_path: Path) -> None:
    names = ["=1+1", "@SUM(1)", "+x", "-x", "\tx", "-0.5", "gpt-4"]
    path = write_table(tmp_path / "table.csv", ["system", "n"], [{"system": name, "n": -1} for name in names])
    with path.open(newline="") as file:
        found = [row["system"] for row in csv.DictReader(file)]
    assert found == ["'=1+1", "'@SUM(1)", "'+x", "'-x", "'\tx", "-0.5", "gpt-4"]
