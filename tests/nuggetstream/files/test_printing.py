"""Tables as a terminal, a pipe and another program get them."""

import io

import pytest
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from nuggetstream.files.cells import named, table
from nuggetstream.files.printing import print_tables

LONG = "a-system-with-a-name-of-more-than-forty-letters"


def measured(systems: int = 2, measures: int = 2) -> RenderableType:
    columns = [name for measure in range(measures) for name in (f"measure {measure}", "±")]
    shown = table(
        "Means of every run, with a title that is longer than its table", "run", *columns, text=["run"]
    )
    for number in range(systems):
        shown.add_row(named(f"{LONG}-{number}"), *["0.125", "–"] * measures)
    shown.add_section()
    shown.add_row(named("[all]\truns"), *["−3.500", "0.250"] * measures)
    return Group(shown, Text("note: one line\nand another"))


def printed(found: RenderableType, width: int | None = None, *, plain: bool = False) -> str:
    """What is printed on a terminal of this width, or into a pipe without one."""
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=width is not None, color_system=None)
    print_tables(found, plain=plain, console=console)
    return out.getvalue()


def first_column(text: str) -> str:
    """The cells of the first column of every box, folded ones put together again."""
    return "".join(line[1:].split("│")[0].strip() for line in text.splitlines() if line[:1] == "│")


def test_a_pipe_gets_columns_as_wide_as_their_widest_cell_and_no_box() -> None:
    lines = printed(measured(measures=12)).splitlines()
    assert lines[0] == "Means of every run, with a title that is longer than its table"
    assert lines[1].split()[:4] == ["run", "measure", "0", "±"]
    assert lines[2].split() == [f"{LONG}-0", *["0.125", "–"] * 12]
    assert len(lines[2]) > 140
    assert lines[2].index("0.125") + len("0.125") == lines[1].index("measure 0") + len("measure 0")
    assert lines[-2:] == ["note: one line", "and another"]
    assert not any(0x2500 <= ord(letter) <= 0x257F for line in lines for letter in line)


def test_another_program_gets_one_line_per_row_with_tabs_and_numbers_it_can_read() -> None:
    lines = printed(measured(), plain=True).splitlines()
    assert lines[0].startswith("# Means of every run")
    assert lines[1].split("\t") == ["run", "measure 0", "±", "measure 1", "±"]
    assert lines[2].split("\t") == [f"{LONG}-0", "0.125", "", "0.125", ""]
    assert lines[4].split("\t")[1:] == ["-3.500", "0.250", "-3.500", "0.250"]
    assert lines[4].startswith("[all]")
    assert lines[5:] == ["# note: one line", "# and another"]
    assert printed(measured(), width=80, plain=True).splitlines() == lines


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_terminal_gets_every_name_and_number_whole_within_its_width(width: int) -> None:
    text = printed(measured(measures=6), width)
    assert max(map(len, text.splitlines())) <= width
    parts = sum("run" in line for line in text.splitlines() if line[:1] == "┃")
    assert first_column(text).count(f"{LONG}-0{LONG}-1[all]") == parts
    assert text.count("0.125") == 2 * 6
    assert "…" not in text


def test_a_table_wider_than_the_terminal_is_printed_in_parts_that_all_name_their_rows() -> None:
    text = printed(measured(measures=6), 80)
    headers = [line for line in text.splitlines() if "measure" in line]
    assert len(headers) > 1
    assert all(line.split("┃")[1].strip() == "run" for line in headers)
    assert all(line.count("±") == line.count("measure") for line in headers)  # an error stays beside its mean


def test_parts_name_their_rows_by_names_and_not_by_the_first_column() -> None:
    shown = table("", "rank", "system", *(f"measure {number}" for number in range(8)), text=["system"])
    for system in ("tea", "coffee"):
        shown.add_row("1", system, *["0.125"] * 8)
    headers = [line.split("┃")[1].strip() for line in printed(shown, 80).splitlines() if line[:1] == "┃"]
    assert headers == ["rank", "system"]


def test_numbers_stay_whole_where_a_column_is_not_kept_from_folding_and_beside_long_headers() -> None:
    shown = Table(caption="What the shares are of.")
    shown.add_column("system")
    for name in ("share", "agreement", f"{LONG}-{LONG}-{LONG}", "count"):
        shown.add_column(name, justify="right")
    for number in range(3):
        shown.add_row(f"{LONG}-{number}", "0.712\n0.69–0.73", "0.80 (0.75–0.85)", "0.90–0.95", "1,234–5,678")
    text = printed(shown, 80)
    for whole in ("0.712", "0.69–0.73", "0.80 (0.75–0.85)", "0.90–0.95", "1,234–5,678"):
        assert text.count(whole) == 3
    assert "…" not in text
    assert f"{LONG}-0{LONG}-1" in first_column(text)
    assert text.splitlines()[-1] == "What the shares are of."
    assert printed(shown).splitlines()[-1] == "What the shares are of."
    assert printed(shown, plain=True).splitlines()[-1] == "# What the shares are of."


@pytest.mark.parametrize("width", [80, None])
def test_a_title_is_one_line_however_narrow_its_table(width: int | None) -> None:
    shown = table("A title of several words", "x")
    shown.add_row("1")
    assert printed(shown, width).splitlines()[0] == "A title of several words"


def test_what_is_no_table_and_no_text_is_an_error() -> None:
    with pytest.raises(TypeError, match="neither a table nor text"):
        printed(Group(Console()))  # type: ignore[arg-type]
