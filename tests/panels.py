"""Panels of evaluators as tests need them: of one or several models, with the evaluator's defaults."""

from typing import Any

from services.judge.asking import Member
from services.judge.evaluator import Evaluator
from services.judge.registry import EVALUATORS
from services.judge.stage import Panel
from services.runtime.llm.model import ChatModel


def panel_of(
    evaluator: str | Evaluator, *models: ChatModel, decisions: ChatModel | None = None, **fields: Any
) -> Panel:
    """The evaluator with some models, of which several are named m0, m1 and so on."""
    chosen = EVALUATORS[evaluator] if isinstance(evaluator, str) else evaluator
    names = [""] if len(models) == 1 else [f"m{number}" for number in range(len(models))]
    members = [Member(model, decisions, name) for name, model in zip(names, models, strict=True)]
    return Panel(chosen, members, **fields)


def judge_of(*models: ChatModel, **fields: Any) -> Panel:
    """The judge `pairwise`, for which battles wait."""
    return panel_of("pairwise", *models, awaited=True, **fields)
