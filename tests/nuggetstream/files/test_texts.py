"""Texts from files: columns, objects, pairs, plain files, and what is wrong with an unusable one."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.texts import TextColumns, TextFiles, read_texts

BATTLE = {
    "id": "b1",
    "a": {"id": "r1", "system": "atlas", "text": "Tides rise [1].", "sources": ["x", "y"]},
    "b": {"id": "r2", "system": "birch", "text": "Rivers flow.", "sources": []},
}


def read(folder: Path, text: str, name: str = "texts.jsonl", **columns: Any) -> TextFiles:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_texts([path], TextColumns(**columns))


def test_a_column_of_texts_is_found_by_its_usual_name(tmp_path: Path) -> None:
    files = read(tmp_path, "system;answer\natlas;Tides rise.\nbirch;\n", "answers.csv", groups=("system",))
    assert [(text.text, text.group, text.sources) for text in files.texts] == [("Tides rise.", "atlas", None)]
    assert files.texts[0].name.endswith("answers.csv:2")
    assert files.without_text == 1


def test_a_battle_holds_two_texts_of_two_systems(tmp_path: Path) -> None:
    files = read(tmp_path, json.dumps(BATTLE), sources=("a.sources", "b.sources"))
    assert [(text.group, text.text, text.sources) for text in files.texts] == [
        ("atlas", "Tides rise [1].", 2),
        ("birch", "Rivers flow.", 0),
    ]
    assert files.texts[0].name.endswith("texts.jsonl:1 a.text")


def test_votes_with_texts_hold_two_texts_of_two_models(tmp_path: Path) -> None:
    row = {"model_a": "atlas", "model_b": "birch", "text_a": "One.", "text_b": "Two."}
    assert [text.group for text in read(tmp_path, json.dumps(row)).texts] == ["atlas", "birch"]


def test_a_text_whose_name_returns_is_read_once(tmp_path: Path) -> None:
    lines = "\n".join([json.dumps(BATTLE)] * 2)
    files = read(tmp_path, lines, names=("a.id", "b.id"))
    assert ([text.name for text in files.texts], files.repeated) == (["r1", "r2"], 2)
    assert len(read(tmp_path, lines).texts) == 4  # without names nothing says that they are the same
    changed = json.dumps(BATTLE | {"a": BATTLE["a"] | {"text": "Another."}})  # type: ignore[operator]
    with pytest.raises(
        UnusableFile, match=r"jsonl:2: 'r1' names another text, group or sources at .*jsonl:1"
    ):
        read(tmp_path, f"{json.dumps(BATTLE)}\n{changed}", names=("a.id", "b.id"))


def test_plain_files_hold_one_text_each(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# One\n", encoding="utf-8")
    (tmp_path / "two.txt.gz").write_bytes(gzip.compress(b"Two."))
    files = read_texts([tmp_path / "one.md", tmp_path / "two.txt.gz"], TextColumns(source_count=3))
    assert [(Path(text.name).name, text.text, text.sources) for text in files.texts] == [
        ("one.md", "# One\n", 3),
        ("two.txt.gz", "Two.", 3),
    ]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (
            '{"words": "x"}',
            {},
            "text or answer or response or output: is no column, see --text; it has words",
        ),
        ('{"text": "x"}', {"texts": ("a.text",)}, "a.text: is no column, see --text; it has text"),
        ('{"text": "x"}', {"groups": ("system",)}, "system: is no column, see --group"),
        ('{"text": "x"}', {"names": ("id",)}, "id: is no column, see --id"),
        ('{"text": "x"}', {"sources": ("urls",)}, "urls: is no column, see --sources"),
        ('{"text": 3}', {}, "texts.jsonl:1: text: is 3; expected a text"),
        ('{"text": ""}', {}, "no row has a text"),
        ('{"text": "x", "n": "many"}', {"sources": ("n",)}, "texts.jsonl:1: n: is 'many'; expected a number"),
        ('{"text": "x", "n": -1}', {"sources": ("n",)}, "texts.jsonl:1: n: is '-1'; expected a number"),
        ('{"text": "x", "s": null}', {"groups": ("s",)}, "texts.jsonl:1: s: is missing"),
        (
            '{"text": "x", "s": ["a"]}',
            {"groups": ("s",)},
            "texts.jsonl:1: s: is ['a']; expected text or a number",
        ),
        (json.dumps(BATTLE), {"groups": ("a.system", "b.system", "id")}, "--group: 3 columns for 2 columns"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(
    tmp_path: Path, text: str, columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnusableFile) as refused:
        read(tmp_path, text, **columns)
    assert message in str(refused.value)


def test_a_number_of_sources_that_is_missing_is_unknown(tmp_path: Path) -> None:
    lines = '{"text": "x", "n": null}\n{"text": "y", "n": "2"}'
    assert [text.sources for text in read(tmp_path, lines, sources=("n",)).texts] == [None, 2]
