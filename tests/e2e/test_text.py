"""`nuggetstream text` as a user runs it: files in, tables and files out."""

from pathlib import Path

import pytest

from tests.documents import block
from tests.e2e.command_line import nuggetstream, rows, strict, written


async def test_a_long_path_is_shown_whole_in_a_pipe(tmp_path: Path) -> None:
    text = written(tmp_path, f"{'x' * 40}.md", "Tides rise.")
    code, output = await nuggetstream("text", text)
    assert code == 0, output
    assert f"/{'x' * 40}.md " in output


async def test_every_number_is_written(tmp_path: Path) -> None:
    answers = written(tmp_path, "answers.jsonl", block("docs/text.md", "json"))
    out = tmp_path / "out"
    options = ("--group", "system", "--sources", "3", "--first-source", "1", "--plain")
    code, output = await nuggetstream("text", answers, *options, "--out", out)
    assert code == 0, output
    table = [line.split("\t") for line in output.splitlines() if "\t" in line]
    assert table[0][:4] == ["text", "group", "given", "chars"]
    texts = rows(out / "texts.csv")
    assert [(row["citations"], row["invalid_citations"], row["variety"]) for row in texts] == [
        ("2", "2", ""),
        ("3", "0", ""),
        ("0", "0", ""),
    ]
    assert [row["group"] for row in rows(out / "groups.csv")] == ["atlas", "birch", "all"]
    content = strict(out / "text.json")
    assert content["rests_on"]["first_source"] == 1
    assert content["overall"]["means"]["variety"] == {"value": None, "texts": 0}
    assert content["groups"][0]["means"]["citations"] == {"value": 2.5, "texts": 2}


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("texts.csv", "words\nx\n", (), "is no column, see --text; it has words"),
        ("texts.csv", "text\n", (), "texts.csv: has no row under its header"),
        ("texts.csv", "text,n\nx,many\n", ("--sources", "n"), "texts.csv:2: n: is 'many'; expected a number"),
        ("texts.csv", "text\nx\n", ("--language", "ja"), "'ja' is not one of"),
        ("texts.csv", "text,id\nx,1\ny,1\n", ("--id", "id"), "texts.csv:3: '1' names another text"),
    ],
)
async def test_texts_that_cannot_be_used_are_named_and_exit_2(
    tmp_path: Path, name: str, text: str, options: tuple[str, ...], message: str
) -> None:
    code, output = await nuggetstream(
        "text", written(tmp_path, name, text), *options, "--out", tmp_path / "out"
    )
    assert code == 2, output
    assert message in output
    assert not (tmp_path / "out").exists()


async def test_recorded_answers_hold_one_invalid_citation(recorded_data: Path, tmp_path: Path) -> None:
    battles = recorded_data / "crowdrag25" / "battles.jsonl.gz"
    options = ("--id", "a.response_id", "--id", "b.response_id", "--sources", "20")
    code, output = await nuggetstream("text", battles, *options, "--out", tmp_path)
    assert code == 0, output
    texts = rows(tmp_path / "texts.csv")
    assert len(texts) == 228
    assert sum(int(text["citations"]) for text in texts) == 2730
    assert sum(int(text["invalid_citations"]) for text in texts) == 1
    groups = {group["group"]: float(group["reading_ease"]) for group in strict_groups(tmp_path)}
    assert min(value for name, value in groups.items() if name.startswith("human")) > 40
    assert max(value for name, value in groups.items() if name.startswith("llm")) < 25


def strict_groups(folder: Path) -> list[dict[str, str]]:
    """The rows of groups.csv that have a name."""
    return [row for row in rows(folder / "groups.csv") if row["group"]]
