"""Files of queries, in both of their forms."""

import json
from pathlib import Path

import pytest

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.queries import read_queries


def written(folder: Path, text: str) -> Path:
    path = folder / "queries"
    path.write_text(text, encoding="utf-8")
    return path


def test_queries_are_objects_or_lines_with_a_tab(tmp_path: Path) -> None:
    lines = ['{"id": "q1", "query": " Why? "}', '{"qid": 2, "question": "How?"}', "q3\tWhen?"]
    assert read_queries(written(tmp_path, "\n".join(lines))) == {"q1": "Why?", "2": "How?", "q3": "When?"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Why?", "2: expected a query id, a tab and the query, or an object with id and query"),
        ("{", "2: is not a JSON object"),
        (json.dumps({"id": "q2"}), "2: query: is missing, or no text"),
        (json.dumps({"query": "Why?"}), "2: id: is missing, or no text"),
        (json.dumps({"id": "q 2", "query": "Why?"}), "2: id: is 'q 2'; expected an id without white space"),
        (json.dumps({"id": "q1", "query": "Why?"}), "2: id: 'q1' is there twice"),
        ("q2\t ", "2: query: is empty"),
    ],
)
def test_a_bad_query_is_named_with_its_line(tmp_path: Path, line: str, told: str) -> None:
    path = written(tmp_path, f"q1\tWhy?\n{line}\n")
    with pytest.raises(UnusableFile) as error:
        read_queries(path)
    assert str(error.value).startswith(f"{path}:{told}")


def test_a_file_without_queries_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="holds no query"):
        read_queries(written(tmp_path, "\n"))
