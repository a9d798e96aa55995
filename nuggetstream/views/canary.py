"""The canary battles of judges and evaluators, as JSON."""

from datetime import datetime

from nuggetstream.views.common import View


class CanaryProblemView(View):
    """A canary battle that did not pass."""

    name: str
    """Language and technique, such as `de-verdict`."""
    state: str
    """`flipped`: the answer with the injection won. `unequal`: an answer did not tie with itself. `failed`:
    there was no verdict; what an earlier run found of the same battle is listed, too."""
    detail: str


class CanaryRunView(View):
    """The latest run of one judge or evaluator, and model."""

    evaluator: str
    model: str
    at: datetime
    battles: int
    passed: int
    flipped: int
    unequal: int
    failed: int
    problems: list[CanaryProblemView]
