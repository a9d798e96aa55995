"""A table is given once and can be printed, written and analysed."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from nuggetstream.files.table_data import Column
from nuggetstream.files.tables import (
    SHOWN,
    Table,
    Tabular,
    count,
    flag,
    interval,
    moment,
    number,
    percent,
    text,
)

COLUMNS = (
    text("system"),
    count("battles"),
    number("rating", digits=1, unit="Elo"),
    percent("share", "share of votes"),
    flag("ranked"),
    interval("low", "high", "95% interval", digits=0),
)
BOARD = Table(
    title="Board of <b>100%</b>",
    columns=COLUMNS,
    rows=(
        ("atlas_1 & <script>", 1200, -12.34, 0.5, True, (-20.0, 5.5)),
        ("birch", 3, None, None, False, None),
        ("cobalt", 0, 7, 1, True, (3.0, None)),
    ),
    notes=("1 of 3 systems has no rating.",),
)


@dataclass(frozen=True, slots=True, repr=False)
class Result(Tabular):
    name: str

    def table(self) -> Table:
        return Table("Names", (text("name"),), ((self.name,),))


def test_a_missing_value_is_a_dash_in_print_and_null_in_a_frame() -> None:
    birch = next(line for line in str(BOARD).splitlines() if "birch" in line)
    assert birch.split() == ["birch", "3", "—", "—", "no", "—"]
    assert BOARD.to_frame().row(1) == ("birch", 3, None, None, False, None, None)


def test_numbers_are_printed_with_their_digits_and_one_minus_sign() -> None:
    first = next(line for line in str(BOARD).splitlines() if "atlas" in line)
    assert first.split("  ")[-1].strip() == "−20 to 6"
    assert "1,200" in first
    assert "−12.3" in first
    assert "50.0%" in first
    assert "3 to —" in str(BOARD)
    assert "rating (Elo)" in str(BOARD)
    assert str(BOARD).endswith("\n\n1 of 3 systems has no rating.")


def test_a_frame_has_typed_columns_and_every_digit() -> None:
    expected = pl.DataFrame(
        {
            "system": ["atlas_1 & <script>", "birch", "cobalt"],
            "battles": [1200, 3, 0],
            "rating": [-12.34, None, 7.0],
            "share": [0.5, None, 1.0],
            "ranked": [True, False, True],
            "low": [-20.0, None, 3.0],
            "high": [5.5, None, None],
        }
    )
    assert_frame_equal(BOARD.to_frame(), expected)


def test_a_moment_at_midnight_is_printed_as_its_day() -> None:
    moments = [datetime(2026, 5, 4, tzinfo=UTC), datetime(2026, 5, 4, 13, 30, tzinfo=UTC), None]
    table = Table("T", (moment("start"),), tuple((one,) for one in moments))
    assert [line.strip() for line in str(table).splitlines()[-3:]] == ["2026-05-04", "2026-05-04 13:30", "—"]
    assert table.to_frame()["start"].to_list() == moments


def test_a_table_without_rows_keeps_its_types() -> None:
    empty = Table("None", COLUMNS, ())
    assert empty.to_frame().schema == BOARD.to_frame().schema
    assert "system" in str(empty)


def test_parquet_holds_the_frame(tmp_path: Path) -> None:
    path = BOARD.to_parquet(tmp_path / "board.parquet")
    assert_frame_equal(pl.read_parquet(path), BOARD.to_frame())


def test_html_escapes_everything_it_was_given() -> None:
    page = BOARD._repr_html_()
    assert "<script" not in page
    assert "atlas_1 &amp; &lt;script&gt;" in page
    assert "<caption>Board of &lt;b&gt;100%&lt;/b&gt;</caption>" in page
    assert page.count("<tr>") == 1 + len(BOARD.rows)
    assert "<p>1 of 3 systems has no rating.</p>" in page


def test_latex_escapes_what_latex_would_interpret() -> None:
    lines = BOARD.to_latex().splitlines()
    assert r"\caption{Board of \textless{}b\textgreater{}100\%\textless{}/b\textgreater{}}" in lines
    assert r"\begin{tabular}{lrrrrr}" in lines
    assert (
        r"atlas\_1 \& \textless{}script\textgreater{} & 1,200 & $-$12.3 & 50.0\% & yes & $-$20 to 6 \\"
        in lines
    )
    assert r"birch & 3 & --- & --- & no & --- \\" in lines
    assert [lines.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]


def test_a_column_of_texts_that_holds_nothing_is_not_printed() -> None:
    table = Table("T", (text("name"), text("remark"), count("n")), (("atlas", None, None),))
    assert "remark" not in str(table)
    assert "remark" not in table.to_html()
    assert "remark" not in table.to_latex()
    assert " n" in str(table)
    assert table.to_frame().columns == ["name", "remark", "n"]


def test_a_long_table_says_how_many_rows_it_does_not_show() -> None:
    rows = tuple((f"system {index}",) for index in range(SHOWN + 5))
    long = Table("Systems", (text("system"),), rows)
    for shown in (str(long), long._repr_html_()):
        assert f"system {SHOWN - 1}" in shown
        assert f"system {SHOWN}" not in shown
        assert "5 more not shown; .to_frame() has all rows." in shown
    assert f"system {SHOWN + 4}" in long.to_text()
    assert f"system {SHOWN + 4}" in long.to_latex()


def test_a_name_cannot_move_the_cursor_or_shift_the_columns() -> None:
    shown = str(Table("T", (text("name"), count("n")), (("a\x1b[2J\nb", 1), ("日本", 2))))
    assert "\x1b" not in shown
    rows = shown.splitlines()[-2:]
    assert [row.split()[-1] for row in rows] == ["1", "2"]


@pytest.mark.parametrize(
    ("columns", "row", "error", "problem"),
    [
        ((text("a"), text("a")), ("x", "y"), ValueError, "distinct"),
        ((text("a"),), ("x", "y"), ValueError, "row 0: has 2 cells for 1 columns"),
        ((count("n"),), (1.5,), TypeError, "row 0: n: 1.5 is no count"),
        ((count("n"),), (True,), TypeError, "True is no count"),
        ((number("x"),), ("1",), TypeError, "'1' is no number"),
        ((number("x"),), (float("nan"),), ValueError, "x: nan is not finite; a missing number is None"),
        ((interval("l", "h", "i"),), ((0.0, float("inf")),), ValueError, "not finite"),
        ((interval("l", "h", "i"),), ((0.0, 1.0, 2.0),), ValueError, "two bounds, not 3"),
        ((flag("f"),), (1,), TypeError, "1 is no flag"),
    ],
)
def test_a_cell_that_is_not_what_its_column_says_is_an_error(
    columns: tuple[Column, ...], row: tuple[object, ...], error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        Table("T", columns, (row,))  # type: ignore[arg-type]


def test_a_result_shows_itself_as_its_table() -> None:
    result = Result("atlas")
    assert repr(result) == str(result) == str(result.table())
    assert result.to_frame()["name"].to_list() == ["atlas"]
    assert "atlas" in result._repr_html_()
    assert r"\toprule" in result.to_latex()
