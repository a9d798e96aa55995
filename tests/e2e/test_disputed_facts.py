"""A false date is no fact that a source states: from a file of battles to its results, offline."""

import json
from pathlib import Path

import pytest

from nuggetstream.files.example import EXAMPLE
from tests.e2e.processes import clean_environment, run_command

FELL = "The Berlin Wall fell on 9 November 1989"
WALL = {
    "id": "wall",
    "query": "When did the Berlin Wall fall?",
    "a": {
        "system": "atlas",
        "text": f"{FELL}. Guenter Schabowski announced new travel rules by mistake.",
        "sources": [{"text": f"{FELL} after Guenter Schabowski announced new travel rules."}],
    },
    "b": {
        "system": "birch",
        "text": "The Berlin Wall fell on 9 November 1990. It was built in 1961.",
        "sources": [{"text": "The Berlin Wall was built in August 1961 and fell in November 1989."}],
    },
}
UNSOURCED = EXAMPLE | {"id": "unsourced", "a": {"system": "x", "text": EXAMPLE["a"]["text"]}}


@pytest.mark.timeout(240)
async def test_what_a_source_states_and_what_it_disputes_is_told_in_the_results(tmp_path: Path) -> None:
    file, out = tmp_path / "battles.jsonl", tmp_path / "out"
    battles = (WALL, EXAMPLE | {"id": "sky"}, UNSOURCED)
    file.write_text("".join(json.dumps(battle) + "\n" for battle in battles), encoding="utf-8")
    code, output = await run_command(clean_environment(), "eval", str(file), "--out", str(out))
    assert code == 0, output
    lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    wall, sky, unsourced = (
        {row["id"]: row for row in map(json.loads, lines)}[name] for name in ("wall", "sky", "unsourced")
    )

    nuggets = {nugget["text"]: nugget for nugget in wall["nuggets"]}
    false = nuggets["The Berlin Wall fell on 9 November 1990."]
    assert (false["grounding"], false["importance"]) == ("disputed", "okay")
    assert nuggets["It was built in 1961."]["grounding"] == "grounded"
    assert wall["nugget_verdict"]["preference"] != "b"
    assert not any(line.startswith("A contradicts") for line in wall["explanation"])
    assert not any("in no source" in line for line in wall["explanation"])

    assert sky["nugget_verdict"]["preference"] == "a"
    assert "no source was read" not in " ".join(sky["explanation"])

    (line,) = [
        line for line in unsourced["explanation"] if line.startswith("Unverified, because no source was read")
    ]
    assert EXAMPLE["a"]["text"] in line
    assert EXAMPLE["b"]["text"] in line
