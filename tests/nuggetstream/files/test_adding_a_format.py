"""The recipe of CONTRIBUTING, followed: a format is one module and one line in a table.

The formats are small and made up. Votes are lines such as `atlas > birch` and `atlas = cobalt`, read by the
code of the recipe; a battle is one line of cells separated by `|`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import nuggetstream as ns
from nuggetstream.domain.battle import Vote
from nuggetstream.files import records
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats import registry
from nuggetstream.files.formats.format import BATTLES, FileFormat, Line, Source, checked
from nuggetstream.files.formats.registry import read_battles
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.text import text_lines
from tests import recipes


# What the module of a format of battles holds.
def piped(source: Source) -> Iterator[Line]:
    for number, line in text_lines(source.path):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != 6:
            problem = f"has {len(cells)} cells; expected query | system | text | system | text | vote"
            yield BadLine(number, (problem,))
            continue
        query, system_a, text_a, system_b, text_b, vote = cells
        battle = {
            "query": query,
            "a": {"system": system_a, "text": text_a},
            "b": {"system": system_b, "text": text_b},
            "vote": vote or None,
        }
        yield BattleLine(number, *checked(battle))


PIPED = FileFormat(
    name="pipes",
    title="pipes",
    holds=BATTLES,
    recognises=lambda sample: "|" in sample.text and not sample.text.startswith("{"),
    read=piped,
    fields="all of it",
)


@pytest.fixture
def formats(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line of each format, in the tables for the length of a test."""
    comparisons = recipes.module("nuggetstream/files/comparisons.py")
    entry = recipes.entry("nuggetstream/files/records.py", "FORMATS", vars(comparisons))
    monkeypatch.setattr(records, "FORMATS", [entry, *records.FORMATS])
    monkeypatch.setattr(registry, "FORMATS", [PIPED, *registry.FORMATS])


@pytest.mark.usefixtures("formats")
def test_a_new_format_of_votes_is_read_by_every_function_that_reads_votes(tmp_path: Path) -> None:
    path = tmp_path / "votes.txt"
    path.write_text("# comparisons\natlas > birch\natlas = cobalt\n", encoding="utf-8")
    votes = ns.read_votes(path)
    assert [(vote.system_a, vote.system_b, vote.outcome) for vote in votes.votes] == [
        ("atlas", "birch", Vote.A),
        ("atlas", "cobalt", Vote.TIE),
    ]
    path.write_text("# comparisons\natlas > birch\natlas ~ cobalt\n", encoding="utf-8")
    with pytest.raises(UnusableFile, match=r"votes\.txt:3: is 'atlas ~ cobalt'; expected SYSTEM > SYSTEM"):
        ns.read_votes(path)


@pytest.mark.usefixtures("formats")
def test_the_formats_that_were_there_are_still_read(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("a,b,winner\natlas,birch,a\n", encoding="utf-8")
    assert ns.read_votes(path).cast == 1
    lines = tmp_path / "battles.jsonl"
    answer = '{"system": "%s", "text": "yes"}'
    lines.write_text(f'{{"query": "q", "a": {answer % "x"}, "b": {answer % "y"}}}\n', encoding="utf-8")
    (battle,) = read_battles(lines)
    assert isinstance(battle, BattleLine)


@pytest.mark.usefixtures("formats")
def test_a_new_format_of_battles_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "battles.txt"
    path.write_text("why? | atlas | because | birch | why not | a\nwhy? | atlas\n", encoding="utf-8")
    battle, bad = read_battles(path)
    assert isinstance(battle, BattleLine)
    assert (battle.submission.query, battle.reference) == ("why?", {"vote": Vote.A})
    assert bad == BadLine(2, ("has 2 cells; expected query | system | text | system | text | vote",))


def test_without_its_line_in_the_table_a_format_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "votes.txt"
    path.write_text("# comparisons\natlas > birch\n", encoding="utf-8")
    with pytest.raises(UnusableFile, match="has no row under its header"):
        ns.read_votes(path)
