"""The evaluators: the ways in which the judge can ask which of two answers is better.

An evaluator is a function from a query, the answer shown first, the answer shown second and the texts of the
evidence to a prompt. The judge calls it once per order and stores the combined verdict under its name. To add
one, write the function and name it here, and in `JUDGES` of `services.wire.evaluators`.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from services.judge.prompts import verdict
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply

Evaluator: TypeAlias = Callable[[str, str, str, Sequence[str]], Prompt[VerdictReply]]

EVALUATORS: dict[str, Evaluator] = {
    "pairwise": verdict,
}
