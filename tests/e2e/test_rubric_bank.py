"""A bank that people edit: only what an edit touches is graded again, and scores are shown before."""

import json
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.files.rubric import read_bank, read_graded
from services.offline.serve import running
from tests.e2e.command_line import nuggetstream, written
from tests.e2e.processes import run_command, run_here
from tests.e2e.test_rubric_grade import Model, Study

WHO = ("--by", "ada", "--reason", "the moon is too easy")


class Edited(Study):
    """A study whose bank is edited."""

    async def edit(self, *options: str, code: int = 0) -> str:
        bank, graded = self.path("bank.jsonl"), str(self.out / "graded.jsonl")
        arguments = ("rubric", "bank", "edit", bank, "--graded", graded, *WHO, "--at", "1", *options)
        got, output = await run_command(self.environment, *arguments)
        assert got == code, output
        return output

    def history(self) -> list[dict[str, Any]]:
        file = self.folder / "bank.jsonl.history.jsonl"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


async def test_one_edit_from_the_preview_to_the_next_run(tmp_path: Path) -> None:
    model = Model()
    change = ("--change", "t/moon", "There are how many tides in 24 hours?")
    async with running(model) as url:
        study = Edited(tmp_path, url)
        await study.grade()
        bank, graded = (tmp_path / "bank.jsonl").read_bytes(), (study.out / "graded.jsonl").read_bytes()
        before = model.asked.copy()

        shown = await study.edit(*change, "--preview")
        new = model.asked - before
        assert new.total() == 3  # the three passages about tides that have a text
        assert all("how many tides" in text and "Which number is given" not in text for _, text in new)
        assert "nothing was kept" in shown
        rows = {row[0]: row[1:] for row in map(str.split, shown.replace("│", " ").splitlines()) if row}
        # reef's first passage about tides answered t/moon, and the new question is answered by p2 alone
        assert rows["reef"] == ["0.750", "0.500", "0.750", "0.500", "1", "1"]
        assert rows["kelp"] == ["0.000", "0.000", "0.000", "0.000", "2", "2"]
        assert (tmp_path / "bank.jsonl").read_bytes() == bank
        assert (study.out / "graded.jsonl").read_bytes() == graded
        assert not (tmp_path / "bank.jsonl.history.jsonl").exists()

        assert "Aborted" in await study.edit(*change, code=1)  # nobody confirmed it
        assert (tmp_path / "bank.jsonl").read_bytes() == bank
        assert "version 2" in await study.edit(*change, "--yes")
        assert model.asked.total() == before.total() + 3  # the replies of the preview are kept
        [entry] = study.history()
        assert (entry["version"], entry["action"], entry["by"], entry["reason"]) == (2, "edited", *WHO[1::2])
        assert entry["at"].endswith("+00:00")
        assert [(each["op"], each["before"]) for each in entry["changes"]] == [("change", "t/moon")]

        kept = study.grades()
        name = next(item.id for item in read_bank(tmp_path / "bank.jsonl") if "how many" in item.text)
        assert set(kept["p1"]) == {"t/number", name}
        assert "with 0 calls" in await study.grade()
        assert study.grades() == kept
    assert set(model.asked.values()) == {1}


async def test_removing_a_question_asks_nobody_and_drops_its_grades(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Edited(tmp_path, url)
        await study.grade("--verify")
        asked = model.asked.total()
        await study.edit("--remove", "t/moon", "--yes")
        assert model.asked.total() == asked
        for prompt_class in ("rubric", "rubric-verified"):
            assert set(study.grades(prompt_class)["p1"]) == {"t/number"}
        [line, *_] = (study.out / "graded.jsonl").read_text(encoding="utf-8").splitlines()
        assert "t/moon" not in line
        refused = await study.edit("--remove", "r/source", "--yes", code=2)
        assert "query 'rivers' has no question any more" in refused
        await study.edit("--add", "rivers", "Who owns rivers?", "--yes")
        assert {len(grades) for passage, grades in study.grades("rubric").items() if passage == "p4"} == {2}
        assert "with 0 calls" in await study.grade("--verify")


async def test_another_model_does_not_mix_its_grades_into_a_file(tmp_path: Path) -> None:
    async with running(Model()) as url:
        study = Edited(tmp_path, url)
        await study.grade()
        text = (study.out / "graded.jsonl").read_text(encoding="utf-8")
        [name] = {grades["llm"] for p in json.loads(text.splitlines()[0])[1] for grades in p["exam_grades"]}
        written(study.out, "graded.jsonl", text.replace(f'"llm": "{name}"', '"llm": "flan-t5"'))
        refused = await study.edit("--add", "rivers", "Who owns rivers?", "--yes", code=2)
        assert f"was graded by flan-t5, and the settings name {name}" in " ".join(refused.split())
        written(study.out, "graded.jsonl", text.replace('"prompt_class": "rubric"', '"prompt_class": "x"'))
        refused = await study.edit("--add", "rivers", "Who owns rivers?", "--yes", code=2)
        assert "was not graded by `rubric grade`" in " ".join(refused.split())


async def test_held_back_questions_are_graded_and_never_published(tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Edited(tmp_path, url)
        await study.edit("--hold-back", "t/moon", "--yes", code=2)  # there is no graded file yet
        bank = study.path("bank.jsonl")
        code, output = await nuggetstream(
            "rubric", "bank", "edit", bank, *WHO, "--hold-back", "t/moon", "--yes", in_process=False
        )
        assert code == 0, output
        await study.grade("--verify")
        assert "t/moon" in study.grades("rubric")["p1"]
        public, graded = tmp_path / "public.jsonl", tmp_path / "public-graded.jsonl.gz"
        files = ("--out", public, "--graded", study.out / "graded.jsonl", "--graded-out", graded)
        code, output = await nuggetstream("rubric", "bank", "publish", bank, *files)
        assert code == 0, output
        assert [item.id for item in read_bank(public)] == ["t/number", "r/source"]
        assert "Which body pulls" not in public.read_text(encoding="utf-8")
        for prompt_class in ("rubric", "rubric-verified"):
            items = {item for p in read_graded(graded, prompt_class) for item in (*p.grades, *p.replies)}
            assert items == {"t/number", "r/source"}
        code, output = await nuggetstream("rubric", "bank", "show", bank)
        assert code == 0, output
        assert "3 questions, 1 of them held back" in output


async def test_a_bank_is_supplied_approved_and_changes_behind_the_history_are_noted(tmp_path: Path) -> None:
    written(tmp_path, "queries.tsv", "tides\twhat causes tides\n")
    written(tmp_path, "mine.tsv", "tides\tWhich body pulls?\ntides\tHow often?\n")
    bank, who = tmp_path / "bank.jsonl", ("--by", "bo", "--reason", "first")
    files = (tmp_path / "mine.tsv", "--bank", bank, "--queries", tmp_path / "queries.tsv")
    supply = ("rubric", "bank", "supply", *files, *who)
    code, output = await nuggetstream(*supply)
    assert code == 0, output
    assert "2 questions of 1 query" in output
    code, output = await nuggetstream(*supply)
    assert code == 2
    assert "is there already" in output
    code, output = await nuggetstream("rubric", "bank", "approve", bank, *who)
    assert "version 1 is approved by bo" in output
    text = bank.read_text(encoding="utf-8")
    bank.write_text(text.replace("How often?", "How high?"), encoding="utf-8")
    code, output = await nuggetstream("rubric", "bank", "show", bank)
    assert "changed after its last entry" in output
    key = ("--key", "Which body pulls?", "the moon", "--key", "Which body pulls?", "moon")
    code, output = await nuggetstream("rubric", "bank", "edit", bank, *WHO, *key, "--yes", in_process=False)
    assert code == 0, output
    assert "version 3" in output
    assert read_bank(bank)[0].keys == ("the moon", "moon")
    lines = (tmp_path / "bank.jsonl.history.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    assert [(each["version"], each["action"], each["by"]) for each in entries] == [
        (1, "supplied", "bo"), (1, "approved", "bo"), (2, "found changed", None), (3, "edited", "ada"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "there is nothing to change"),
        (("--remove", "t/star"), "remove 't/star': the bank has no such question"),
        (("--change", "t/moon", " "), "a question has 1 to 400 characters; this one has 0"),
        (("--add", "lakes", "How deep?"), "add 'lakes': the bank has no such query"),
        (
            ("--add", "tides", "Which body pulls the sea?"),
            "has the question 'Which body pulls the sea?' already",
        ),
        (("--release", "t/moon"), "release 't/moon': changes nothing"),
    ],
)
def test_an_edit_that_cannot_be_made_is_named(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    study = Edited(tmp_path, "")
    code, output = run_here("rubric", "bank", "edit", study.path("bank.jsonl"), *WHO, *options, "--yes")
    assert code == 2
    assert said in " ".join(output.split())
    assert not (tmp_path / "bank.jsonl.history.jsonl").exists()
