"""The page on models lists every prompt that an operator can replace, by who asks it."""

import re
from pathlib import Path

from services.judge.registry import EVALUATORS, heuristics
from services.runtime.llm.prompt import TASKS

PAGE = (Path(__file__).resolve().parents[3] / "docs/operations/models.md").read_text(encoding="utf-8")


def listed() -> dict[str, set[str]]:
    """The tasks of the page by who asks them."""
    table = PAGE.partition("| asked by | tasks |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return {asked_by.strip("`"): set(re.findall(r"`([a-z_]+)`", names)) for asked_by, names in rows}


def test_every_task_is_listed_once() -> None:
    named = [task for names in listed().values() for task in names]
    assert sorted(named) == sorted([*TASKS, *heuristics()])


def test_the_tasks_of_every_evaluator_are_beside_its_name() -> None:
    own = {name: set(evaluator.offline) for name, evaluator in EVALUATORS.items()}
    own["pairwise"] = {"verdict", "verdict_decision"}
    assert {name: names for name, names in listed().items() if name in own} == own
