"""nuggetizer on the battles of `llm.py`: nuggets and labels with its own prompts, in its own environment."""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.cpu import serving_model
from benchmarks.llm_variants import Result
from benchmarks.peers import cache_folder, environment
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.nuggets.scores import preference, tie_threshold
from services.nuggetizer.documents import NuggetSources, documents_of
from services.runtime.llm.prices import Tokens

REQUIREMENTS = ("nuggetizer==0.0.5",)
LIMIT_S = 1800
CREDIT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


def run_nuggetizer(events: Sequence[BattleRetrieved], options: Sequence[str], at_once: int) -> Result:
    """All battles, so many at once.

    Args:
        events: The battles with their evidence.
        options: Of `nuggetizer_endpoint.py`.
        at_once: Battles at the same time.

    Raises:
        subprocess.SubprocessError, OSError: It cannot be installed or does not end.
    """
    python = environment("nuggetizer", REQUIREMENTS, cache_folder("nugget-peers"))
    with (
        tempfile.TemporaryDirectory() as name,
        serving_model("-m", "benchmarks.nuggetizer_endpoint", *options) as url,
    ):
        battles, result = Path(name) / "battles.json", Path(name) / "result.json"
        battles.write_text(json.dumps([_as_json(event) for event in events]), encoding="utf-8")
        script = Path(__file__).with_name("nuggetizer_peer.py")
        command = [python, str(script), str(battles), url, str(at_once), str(result)]
        subprocess.run(command, check=True, timeout=LIMIT_S)
        return _result(events, json.loads(result.read_text(encoding="utf-8")))


def _as_json(event: BattleRetrieved) -> dict[str, Any]:
    documents = documents_of(event, NuggetSources.BOTH)
    return {
        "id": event.battle.id,
        "query": event.battle.query,
        "answers": [event.battle.a.text, event.battle.b.text],
        "documents": [document.block.text for document in documents],
    }


def _result(events: Sequence[BattleRetrieved], rows: Sequence[dict[str, Any]]) -> Result:
    threshold = {event.battle.id: tie_threshold(event.battle) for event in events}
    return Result(
        calls=[("nuggetizer", Tokens(read, written, cached))
               for row in rows for read, cached, written in row["usage"]],
        seconds=[row["seconds"] for row in rows],
        preferred={row["id"]: _preferred(*row["labels"], threshold[row["id"]]) for row in rows},
    )  # fmt: skip


def _preferred(a: Sequence[str], b: Sequence[str], threshold: float) -> Vote:
    """The answer with the higher All Score."""
    scores = [sum(CREDIT[label] for label in labels) / len(labels) for labels in (a, b)]
    return preference(scores[0], scores[1], threshold)
