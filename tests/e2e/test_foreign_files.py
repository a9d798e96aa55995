"""`nuggetstream eval` takes the files of other projects as they are published."""

import json
import re
import shutil
from pathlib import Path

import polars
import pytest

from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.format import BATTLES
from nuggetstream.files.formats.registry import FORMATS, read_battles
from tests.e2e.processes import clean_environment, run_command
from tests.nuggetstream.files.formats.test_reading import RECOGNISED, SAMPLES

OF_BATTLES = {known.name for known in FORMATS if known.holds == BATTLES}
TAKEN = [
    name
    for name, known in RECOGNISED.items()
    if known in OF_BATTLES and name not in {"ragelo/answers.csv", "crowdrag25.jsonl"}
]


def local(name: str, folder: Path) -> Path:
    """A copy of a sample whose pages are on this machine, where the scraper fetches nothing."""
    sample, copy = SAMPLES / name, folder / name
    if sample.is_dir():
        return Path(shutil.copytree(sample, copy))
    text = sample.read_text(encoding="utf-8")
    for host in ("https://example.org", "https://example.net"):
        text = text.replace(host, "http://127.0.0.1:9")
    copy.write_text(text, encoding="utf-8")
    return copy


async def evaluated(file: Path, folder: Path) -> None:
    """Evaluate a file, and compare with what its format has."""
    lines = list(read_battles(file))
    expected = sum(isinstance(line, BattleLine) for line in lines)
    rejected = sum(isinstance(line, BadLine) for line in lines)
    environment = clean_environment(embedding_model="none")
    code, output = await run_command(environment, "eval", str(file), "--out", str(folder))
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text("utf-8").splitlines()]
    assert (len(results), expected > 0) == (expected, True), output
    assert all(result["nuggets"] and result["judgments"] for result in results), output
    assert (code, re.findall(r"(\d+) lines? rejected", output)[:1]) == (
        0,
        [str(rejected)] * (rejected > 0),
    ), output


@pytest.mark.parametrize("name", ["chatbot_arena.jsonl", "ragelo"])  # a file and a folder
async def test_a_published_file_is_evaluated_as_it_is(name: str, tmp_path: Path) -> None:
    await evaluated(local(name, tmp_path), tmp_path / "out")


async def test_the_battles_of_every_format_are_evaluated(tmp_path: Path) -> None:
    """All in one run, because starting the platform takes most of the time."""
    file = tmp_path / "battles.jsonl"
    lines = [line for name in TAKEN for line in read_battles(local(name, tmp_path))]
    battles = [line.submission for line in lines if isinstance(line, BattleLine)]
    with file.open("w", encoding="utf-8") as rows:
        for number, battle in enumerate(battles):
            row = battle.model_dump(mode="json", exclude_none=True) | {"id": f"battle-{number}"}
            rows.write(json.dumps(row) + "\n")
    await evaluated(file, tmp_path / "out")


async def test_parquet_is_evaluated_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    row = json.loads((SAMPLES / "chatbot_arena.jsonl").read_text("utf-8").splitlines()[0])
    polars.DataFrame([row]).write_parquet(file)
    await evaluated(file, tmp_path / "out")
