"""Evaluated battles as a file of results holds them, small enough to count by hand."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nuggetstream.files.evaluated import BattleRow
from nuggetstream.nuggets.scores import preference
from nuggetstream.report.summary import Summary, Summing

Json = dict[str, Any]


def nugget(
    text: str = "Tides follow the moon.",
    importance: str = "vital",
    a: str | None = "support",
    b: str | None = "not_support",
    cause: str | None = "generation",
) -> Json:
    """A nugget with its labels; the cause goes to whoever misses it."""

    def label(support: str | None) -> Json | None:
        if support is None:
            return None
        return {"support": support, "quote": "", "cause": cause if support == "not_support" else None}

    return {"id": text, "text": text, "importance": importance, "a": label(a), "b": label(b)}


def judgment(winner: str, flipped: bool | None = False, **more: Any) -> Json:
    """A verdict of a judge asked in both orders, who said the same each time unless it flipped."""
    orders = [{"first": side, "winner": side if flipped else winner, "reasoning": ""} for side in "ab"]
    return {
        "evaluator": "pairwise",
        "winner": winner,
        "flipped": flipped,
        "verdicts": orders,
        "model": "offline-heuristic",
    } | more


def battle(
    name: str,
    a: str = "left",
    b: str = "right",
    *,
    human: str | None = "a",
    judge: str | None = "a",
    scores: tuple[float, float] | None = (0.75, 0.25),
    **more: Any,
) -> Json:
    """One line of results."""
    verdict = None
    if scores is not None:
        verdict = {
            "a": {"all_score": scores[0]},
            "b": {"all_score": scores[1]},
            "margin": scores[0] - scores[1],
            "tie_threshold": 0.07,
            "preference": preference(*scores, 0.07).value,
        }
    return {
        "id": name,
        "arena": "tides",
        "query": f"query of {name}",
        "language": "en",
        "tags": [],
        "received_at": "2026-05-04T12:00:00Z",
        "ended_at": "2026-05-04T12:00:02Z",
        "a": {"system": a, "text": "Twice a day.", "sources": []},
        "b": {"system": b, "text": "Often.", "sources": []},
        "nuggets": [] if scores is None else [nugget()],
        "nugget_verdict": verdict,
        "judgments": [] if judge is None else [judgment(judge)],
        "human_vote": human,
        "evidence": [],
        "failures": [],
        "reference": {} if human is None else {"vote": human},
    } | more


def answer(text: str, system: str = "left") -> Json:
    """An answer without sources, for `battle(...) | {"a": answer(...)}`."""
    return {"system": system, "text": text, "sources": []}


def votes(won: int, of: int, name: str = "b", **more: Any) -> list[Json]:
    """Battles of x and y; people and judge prefer x in the first `won`, the nuggets in all."""
    return [
        battle(f"{name}{i}", "x", "y", human="a" if i < won else "b", judge="a" if i < won else "b", **more)
        for i in range(of)
    ]


def file_of(folder: Path, battles: Iterable[Mapping[str, Any]]) -> Path:
    """A results.jsonl."""
    path = folder / "results.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in battles), encoding="utf-8")
    return path


def round_robin(per_pair: int = 4) -> list[Json]:
    """Three systems, every pair of which battles often; the stronger wins all but the last time."""
    found = []
    for a, b in (("strong", "middle"), ("middle", "weak"), ("strong", "weak")):
        for turn in range(per_pair):
            winner = "b" if turn == per_pair - 1 else "a"
            scores = (0.75, 0.25 + turn / 100) if winner == "a" else (0.25, 0.5)
            found.append(battle(f"{a}-{b}-{turn}", a, b, human=winner, judge=winner, scores=scores))
    return found


def summarise(battles: Iterable[BattleRow], rejected: int) -> Summary:
    """The summary of evaluated battles."""
    summing = Summing()
    for row in battles:
        summing.add(row)
    return summing.summary(rejected)
