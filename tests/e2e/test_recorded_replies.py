"""Battles evaluated with recorded replies of a small model: parsing, repairs and scores as they really were.

    python -m benchmarks.real_model --model 1.5b --profiles live --out FOLDER
    python -m benchmarks.real_model.quoting FOLDER/live.replies.jsonl tests/e2e/recorded/live.replies.jsonl.gz

make the replies, and what came of each battle then; neither contains a text of the battles.
"""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.offline_agreement import load
from benchmarks.real_model.evaluation import outcomes
from benchmarks.real_model.quoting import restored, texts_of
from benchmarks.real_model.recording import Replies
from services.offline.app import create_app
from services.offline.serve import running
from tests.e2e.processes import clean_environment, run_command

RECORDED = Path(__file__).parent / "recorded"


@pytest.mark.recorded
async def test_recorded_replies_of_a_small_model_lead_to_the_same_results(
    tmp_path: Path, recorded_data: Path
) -> None:
    expected = json.loads((RECORDED / "live.outcomes.json").read_text(encoding="utf-8"))
    data, battles = recorded_data / "crowdrag25", tmp_path / "battles.jsonl"
    with gzip.open(RECORDED / "live.replies.jsonl.gz", "rt", encoding="utf-8") as lines:
        replies = Replies(restored(lines, texts_of(data)))
    chosen = [row for row in load(data / "battles.jsonl.gz") if row["battle_id"] in expected]
    battles.write_text("".join(json.dumps(row) + "\n" for row in chosen), encoding="utf-8")
    async with running(create_app(None, reply_to=replies)) as url:
        environment = clean_environment(
            llm_base_url=url, llm_api_key="none", llm_model="recorded", embedding_model="none"
        )
        command = ("eval", str(battles), "--documents", str(data / "documents.jsonl.gz"))
        code, output = await run_command(environment, *command, "--out", str(tmp_path / "out"))
    assert code == 0, output
    rows = (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert outcomes([json.loads(row) for row in rows]) == expected
