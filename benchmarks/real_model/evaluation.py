"""Evaluations of recorded battles by the command that users have, and what their files say."""

import gzip
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.offline_agreement import load

_COMMAND = [sys.executable, "-c", "from services.cli.main import main; main()", "eval"]
_OURS = ("NUGGETSTREAM_", "OPENAI_")
_FAULTS = {
    "form of a line": "not a line like",
    "missing, unknown or repeated ids": "ids:",
    "repeats itself": "repeats itself",
    "example of the form": "is the example",
    "no JSON": "complete JSON value",
    "cut off": "cut off",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One model call.

    Attributes:
        stage: Stage that made it.
        outcome: What became of it, as in the log of calls.
        repair: Whether it is the second request after an unusable reply.
        seconds: Seconds until the end of the reply; None where there was no call.
        read: Tokens of the prompt; None where nobody counted them.
        written: Tokens of the reply; None where nobody counted them.
        detail: What was wrong with the reply.
    """

    stage: str
    outcome: str
    repair: bool
    seconds: float | None
    read: int | None
    written: int | None
    detail: str

    @property
    def fault(self) -> str:
        """Kind of what was wrong with the reply."""
        return next((kind for kind, words in _FAULTS.items() if words in self.detail), "other")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The results of one evaluation.

    Attributes:
        seconds: Seconds of the whole command.
        battles: Rows of `results.jsonl`.
        summary: The contents of `summary.json`.
        calls: All model calls.
    """

    seconds: float
    battles: Sequence[Mapping[str, Any]]
    summary: Mapping[str, Any]
    calls: Sequence[Call]


def outcomes(battles: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What came of each battle, without its texts: its state, importance and labels of nuggets, winners."""
    return {
        battle["id"]: {
            "state": battle["state"],
            "reasons": sorted(failure["reason"] for failure in battle["failures"]),
            "nuggets": [
                [nugget["importance"], *(nugget[side] and nugget[side]["support"] for side in "ab")]
                for nugget in battle["nuggets"]
            ],
            "verdict": battle["nugget_verdict"],
            "winners": [
                [verdict["winner"] for verdict in judgment["verdicts"]] for judgment in battle["judgments"]
            ],
        }
        for battle in battles
    }


def sample(source: Path, count: int, target: Path) -> None:
    """Write so many recorded battles, evenly spread over the file and so over its topics."""
    rows = list(load(source))
    step = max(1, len(rows) // count)
    _write(rows[::step][:count], target)


def _write(rows: Sequence[Mapping[str, Any]], target: Path) -> None:
    with gzip.open(target, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def evaluate(
    battles: Path, documents: Path, out: Path, settings: Mapping[str, str], within: float | None = None
) -> Evaluated:
    """Run `nuggetstream eval` with these settings and no others.

    Args:
        battles: The battles, compressed.
        documents: The documents behind their answers.
        out: Folder of the results.
        settings: Environment variables.
        within: Seconds after which it is stopped; the results are those of the battles that ended until then.

    Raises:
        subprocess.CalledProcessError: The command fails.
        TimeoutError: No battle ended in time.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    command = [*_COMMAND, "--documents", str(documents), "--out", str(out)]
    run = partial(subprocess.Popen, env=environment | settings, stdout=subprocess.DEVNULL)
    began = time.perf_counter()
    code, stopped = _run(run([*command, str(battles)]), within)
    seconds = time.perf_counter() - began
    if stopped and code:
        ended = ended_in(out)
        if not ended:
            raise TimeoutError(f"no battle ended within {within:.0f} s")
        given, battles = battles, out / "ended.jsonl.gz"
        _write([row for row in load(given) if row["battle_id"] in ended], battles)
        code, _ = _run(run([*command, str(battles)]), None)  # which finds their results and sums them up
    if code:
        raise subprocess.CalledProcessError(code, command)
    return Evaluated(
        seconds=seconds,
        battles=_rows(out),
        summary=json.loads((out / "summary.json").read_text(encoding="utf-8")),
        calls=_calls(out / "state" / "nuggetstream.db"),
    )


def ended_in(out: Path) -> set[str]:
    """Ids of the battles that have ended, also while an evaluation into this folder runs."""
    database = out / "state" / "nuggetstream.db"
    if not database.exists():
        return set()
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT id FROM battles WHERE ended_at IS NOT NULL").fetchall()
    return {name for (name,) in rows}


def _run(process: "subprocess.Popen[bytes]", within: float | None) -> tuple[int, bool]:
    """The exit code of a process, and whether it was stopped as Ctrl-C does."""
    try:
        return process.wait(within), False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        return process.wait(), True
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]


def _calls(database: Path) -> list[Call]:
    query = "SELECT stage, outcome, repair, seconds, input_tokens, output_tokens, detail FROM calls"
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(query).fetchall()
    return [
        Call(stage, outcome, bool(repair), seconds, read, written, detail or "")
        for stage, outcome, repair, seconds, read, written, detail in rows
    ]


def replies(calls: Sequence[Call]) -> str:
    """How many replies were usable at once, after a repair, and never, and what was wrong with the others."""
    made = [call for call in calls if call.outcome in ("answered", "unusable")]
    first, repairs = [c for c in made if not c.repair], [c for c in made if c.repair]
    at_once = sum(call.outcome == "answered" for call in first)
    repaired = sum(call.outcome == "answered" for call in repairs)
    never = len(first) - at_once - repaired
    faults = Counter(call.fault for call in made if call.outcome == "unusable")
    cut = sum(call.outcome == "cancelled" for call in calls)
    failed = sum(
        call.outcome not in ("answered", "unusable", "cancelled", "cached", "shared") for call in calls
    )
    what = ", ".join(f"{kind} {count}" for kind, count in faults.most_common()) or "nothing"
    return (
        f"replies usable at once {at_once} of {len(first)}, after a repair {repaired}, never {never}; "
        f"faults: {what}; calls cut by deadlines {cut}, without a reply {failed}"
    )


def by_stage(calls: Sequence[Call], battles: int) -> list[str]:
    """Calls, seconds and tokens of each stage per battle; how many calls nobody counted is said."""
    lines = []
    made = [call for call in calls if call.seconds is not None]
    for stage in sorted({call.stage for call in made}):
        own = [call for call in made if call.stage == stage]
        counted = [call for call in own if call.read is not None and call.written is not None]
        seconds = sum(call.seconds or 0.0 for call in own) / battles
        read, written = (
            sum(getattr(call, what) for call in counted) / battles for what in ("read", "written")
        )
        uncounted = f", without {len(own) - len(counted)} calls" if len(counted) < len(own) else ""
        lines.append(
            f"  {stage:<12}{len(own) / battles:6.1f} calls{seconds:8.1f} s{read:8.0f} tokens read"
            f"{written:7.0f} written{uncounted}"
        )
    return lines


def position_bias(battles: Sequence[Mapping[str, Any]]) -> str:
    """How the judge decides when the answers change places."""
    pairs = [
        judgment["verdicts"]
        for battle in battles
        for judgment in battle["judgments"]
        if len(judgment["verdicts"]) == 2
    ]
    if not pairs:
        return "position bias: no battle was judged in both orders"
    changed = sum(first["winner"] != second["winner"] for first, second in pairs)
    verdicts = [verdict for pair in pairs for verdict in pair]
    firsts = sum(verdict["winner"] == verdict["first"] for verdict in verdicts)
    ties = sum(verdict["winner"] == "tie" for verdict in verdicts)
    return (
        f"position bias: of {len(pairs)} battles {changed} have another winner in the other order; of "
        f"{len(verdicts)} verdicts {firsts} are for the first answer, {ties} are ties"
    )


def agreements(summary: Mapping[str, Any], dimension: str = "quality_overall") -> list[str]:
    """How often each preference agrees with people, with its 95 % interval."""
    lines = []
    for row in summary["agreements"]:
        share = row["agreement"]
        if row["dimension"] != dimension or share["share"] is None:
            continue
        interval = f"[{share['low']:.2f}, {share['high']:.2f}]"
        lines.append(
            f"  {row['predictor']:<22}{share['share']:6.3f} {interval} of {share['compared']} battles"
        )
    return lines


def failures(summary: Mapping[str, Any]) -> str:
    """How many battles have a score, and why the others have none."""
    reasons = re.sub(r"[{}']", "", str(summary["reasons"])) or "none"
    return f"battles scored {summary['scored']}, failed {summary['failed']}; reasons: {reasons}"
