"""The commands of studies: from a file to labels that `nuggetstream crowd` reads."""

import asyncio
import csv
import io
from collections import Counter
from pathlib import Path

from click.testing import CliRunner, Result

from nuggetstream.views.crowd_studies import CrowdStudyView, StudyBoundary
from services.cli.commands.battles.study import _line, command
from services.cli.commands.study_tables import LABEL_COLUMNS
from tests.e2e.processes import run_here
from tests.integration.gateway.test_crowd_studies import Worker, added
from tests.integration.gateway.world import World

ASKED = Path(__file__).parents[2] / "docs" / "samples" / "asked.csv"


async def run(world: World, *arguments: str) -> Result:
    asked = [*arguments, "--url", str(world.http.base_url)]
    return await asyncio.to_thread(CliRunner().invoke, command, asked, catch_exceptions=False)


async def test_labels_of_people_lead_to_agreement_and_competence(world: World, tmp_path: Path) -> None:
    study = await added(world, sends=3)
    for label in ("a", "a", "b"):
        worker = Worker(world, study)
        await worker.begins()
        for number in range(3):
            await worker.answers(label if number else "a")
    result = await run(world, "labels", study.id)
    rows = list(csv.DictReader(io.StringIO(result.output)))
    assert len(rows) == 9
    assert tuple(rows[0]) == LABEL_COLUMNS == tuple(ASKED.read_text().partition("\n")[0].split(","))
    assert {row["item"] for row in rows} == {"tides0", "tides1", "tides2"}
    for row in rows:
        is_reversed = row["first"] == "birch"  # the system of answer B
        assert (row["label"] == row["shown"]) is not is_reversed or row["label"] == "n"
    file = tmp_path / "labels.csv"
    file.write_text(result.output)
    code, output = await asyncio.to_thread(run_here, "crowd", str(file), "--plain")
    assert code == 0, output
    assert "from labels.csv: 9 votes" in output.replace(str(tmp_path) + "/", "")
    order = ("--item", "item", "--sides", "first", "second", "--label", "shown", "--position", "position")
    code, output = await asyncio.to_thread(run_here, "crowd", str(file), *order)
    assert code == 0, output
    assert "both orders" in output
    assert (await run(world, "vote", study.id)).output == "voted on 3 of 3 labelled pairs\n"
    assert (await run(world, "vote", study.id, "--majority")).exit_code == 0
    for battle in ("tides0", "tides1", "tides2"):
        [(label, _)] = Counter(row["label"] for row in rows if row["item"] == battle).most_common(1)
        assert (await world.http.get(f"/v1/battles/{battle}")).json()["human_vote"] == label
    assert (await run(world, "vote", study.id, "--dimension", "tone")).exit_code == 2


async def test_a_study_from_its_file_to_its_end(world: World, tmp_path: Path) -> None:
    await added(world)
    file = tmp_path / "study.toml"
    file.write_text('name = "Second"\narena = "demo"\nbattles = ["tides0"]\n')
    new = await run(world, "add", str(file))
    assert new.exit_code == 0
    study_id, link = new.stdout.strip(), new.stderr.strip()
    assert link == f"link {str(world.http.base_url).rstrip('/')}/studies/{study_id}"
    listed = await run(world, "list", "--arena", "demo")
    assert [line.split("  ")[3].partition(":")[0] for line in listed.output.splitlines()] == [
        "Tides",
        "Second",
    ]
    assert "0 of 5 answers" in listed.output
    first, _ = (await run(world, "list", "--json")).output.splitlines()
    assert '"wanted":' in first
    view = CrowdStudyView.model_validate_json(first)
    for labels, said in ((7, "7 more labels"), (182_174, "practically equal"), (None, "unknown")):
        edge = StudyBoundary(last="atlas", next="birch", labels=labels)
        shown = _line(view.model_copy(update={"boundary": edge}))
        assert shown.endswith(f"between atlas and birch: {said}")
    workers = await run(world, "workers", study_id)
    assert workers.output == "worker,participant,code,begun_at,finished_at,answered,gold,gold_right\n"
    assert (await run(world, "close", study_id)).output == f"closed {study_id}\n"
    missing = await run(world, "remove-worker", study_id, "w_none")
    assert (missing.exit_code, "there is no worker 'w_none'" in missing.output) == (1, True)
    assert (await run(world, "remove", study_id)).output == f"removed {study_id}\n"
    file.write_text('name = ""\n')
    wrong = await run(world, "add", str(file))
    assert wrong.exit_code == 2
    assert "name: is empty" in wrong.output
