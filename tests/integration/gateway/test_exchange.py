"""A file of another project is submitted to a platform, and battles are exported from API and database."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.formats.registry import read_battles
from services.cli.commands.files import export_file
from services.cli.main import main
from tests.integration.gateway.world import Story, World, battle, submission

SAMPLES = Path(__file__).parents[2] / "nuggetstream" / "files" / "formats" / "samples"


async def run(*arguments: object) -> str:
    result = await asyncio.to_thread(CliRunner().invoke, main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def test_a_file_is_submitted_and_comes_back(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = str(world.http.base_url)
    await world.http.post("/v1/battles", json=submission(id="search-arena-8"))
    output = await run("import", SAMPLES / "search_arena_7k.jsonl", "--url", url)
    assert "1 row imported, 2 rejected" in output
    assert any(line.startswith("line 2: ") and "search-arena-8" in line for line in output.splitlines()), (
        output
    )
    assert 'line 3: winner: is "model_x"; expected a, b, tie' in output
    monkeypatch.setattr(export_file, "_PAGE", 1)
    monkeypatch.setenv(
        "NUGGETSTREAM_DATABASE_URL", world.database.engine.url.render_as_string(hide_password=False)
    )
    for place in (["--url", url], ["--database"]):
        out = tmp_path / "rows.jsonl"
        written = await run("export", "--to", "search-arena", "--out", out, *place)
        assert "2 rows of 2 battles" in written
        assert {row["battle_id"] for row in rows(out)} == {"search-arena-7", "search-arena-8"}
        await run("export", "--to", "search-arena", "--out", out, "--arena", "search-arena", *place)
        [line] = read_battles(out)
        written = await run("export", "--to", "search-arena", "--out", out, "--since", "2020-01-01", *place)
        assert "2 rows of 2 battles" in written
        written = await run("export", "--to", "search-arena", "--out", out, "--since", "2100-01-01", *place)
        assert "0 rows of 0 battles" in written
        assert isinstance(line, BattleLine)
        [original, *_] = read_battles(SAMPLES / "search_arena_7k.jsonl")
        assert isinstance(original, BattleLine)
        assert line.submission.to_core() == original.submission.to_core()


async def test_nuggets_and_preferences_are_exported_from_the_platform(world: World, tmp_path: Path) -> None:
    url = str(world.http.base_url)
    await world.http.post("/v1/battles", json=submission())
    story = Story(battle())
    await world.happens(*story.told(), story.voted(Vote.BOTH_BAD))
    out = tmp_path / "file"
    written = await run("export", "--to", "nuggetizer-assignments", "--out", out, "--url", url)
    assert "2 rows of 1 battle" in written
    assert [row["run_id"] for row in rows(out)] == ["atlas", "birch"]
    view = (await world.http.get("/v1/battles/tides")).json()
    labels = [nugget["b"]["support"] for nugget in view["nuggets"]]
    assert [nugget["assignment"] for nugget in rows(out)[1]["nuggets"]] == labels
    await run("export", "--to", "votes", "--out", out, "--url", url)
    assert out.read_text().splitlines()[1].startswith("tides,demo,atlas,birch,both_bad,human,")
    written = await run("export", "--to", "votes", "--lens", "judge", "--out", out, "--url", url)
    assert out.read_text().splitlines()[1].startswith("tides,demo,atlas,birch,a,judge,")
