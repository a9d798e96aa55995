"""Statistics of texts on a terminal of 80 columns, and what is said about texts without a value."""

import io

from rich.console import Console

from nuggetstream.files.printing import aligned, print_tables
from nuggetstream.text.measures import NamedText
from nuggetstream.text_statistics.study import study_texts
from nuggetstream.text_statistics.terminal import text_tables

TEXTS = [
    NamedText("/a/folder/with/a/very/long/name/that/goes/on/answers.jsonl:12", "Tides rise [1].", "atlas", 2),
    NamedText("2", "word " * 120, "birch", 2),
]


def test_nothing_is_wider_than_a_terminal_and_a_long_name_is_folded() -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=80, force_terminal=True, no_color=True, legacy_windows=False)
    print_tables(text_tables(study_texts(TEXTS), 10), console=console)
    lines = [line for line in screen.getvalue().split("\n") if "\x1b" not in line]
    assert max(map(len, lines)) <= 80
    assert "jsonl:12" in screen.getvalue()


def test_means_over_some_texts_only_are_said() -> None:
    lines = list(aligned(text_tables(study_texts(TEXTS), 1, without_text=3, repeated=1)))
    assert "variety: means over 1 of 2 texts; others have none" in lines
    assert "note: 3 cells without a text, not measured" in lines
    assert "note: 1 text with a name that was read before, measured once" in lines
    assert "1 more row; --out has all" in lines


def test_a_measure_that_no_text_has_is_no_column() -> None:
    lines = "\n".join(aligned(text_tables(study_texts(["Tides rise."], language=None), 10)))
    assert "ease" not in lines
    assert "invalid" not in lines
    assert "variety" not in lines
