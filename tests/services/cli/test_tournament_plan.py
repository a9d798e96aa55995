"""Plans of tournaments: read, or one error with file, line and field."""

from pathlib import Path

import pytest

from nuggetstream.files.opening import UnusableFile
from services.cli.tournament.plan import BuiltIn, Recorded, read_plan

PLAN = """\
documents = "pages"
queries = "queries.jsonl"
budget = 20

[agents.words]
kind = "rag"
search = "words"

[agents.ours]
kind = "recorded"
answers = "ours.jsonl"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pages").mkdir()
    for name in ("queries.jsonl", "ours.jsonl"):
        (tmp_path / name).touch()
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_is_read_with_paths_from_its_folder(folder: Path) -> None:
    plan = read_plan(written(folder, PLAN))
    assert (plan.documents, plan.queries) == (folder / "pages", folder / "queries.jsonl")
    assert plan.agents == {
        "words": BuiltIn(kind="rag", search="words"),
        "ours": Recorded(kind="recorded", answers=folder / "ours.jsonl"),
    }
    assert (plan.budget, plan.qrels, plan.passages) == (20, None, 5)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("budget = 20", "budget = 0", ":3: budget: Input should be greater than or equal to 1"),
        ("budget = 20", "buget = 20", ":3: buget: is not a field of a plan"),
        ("budget = 20", "budget = ", ":3: is no TOML: Invalid value"),
        (
            '"words"\n',
            '"meaning"\n',
            ":7: agents.words.search: Input should be 'words', 'vectors' or 'hybrid'",
        ),
        ('"rag"', '"rak"', ":5: agents.words: kind: expected rag, rag_fusion, recorded, http or command"),
        ("[agents.words]", '[agents."a/b"]', ":5: agents.a/b: the name of an agent has letters"),
        ("answers = ", "file = ", ":9: agents.ours.answers: is missing"),
        ("ours.jsonl", "yours.jsonl", ":11: agents.ours.answers: there is no "),
        ('"pages"', '"papers"', ":1: documents: there is no "),
        ('queries = "queries.jsonl"\n', "", ": queries: is missing"),
        ('documents = "pages"\n', "", ": documents: is missing, and the agent 'words' searches them"),
        (PLAN[PLAN.index("[agents.ours]") :], "", ": agents: a tournament needs 2 agents or more"),
    ],
)
def test_a_bad_plan_is_one_error_that_names_line_and_field(
    folder: Path, old: str, new: str, told: str
) -> None:
    path = written(folder, PLAN.replace(old, new))
    with pytest.raises(UnusableFile) as error:
        read_plan(path)
    assert str(error.value).startswith(f"{path}{told}")
    assert "\n" not in str(error.value)
