"""What a platform tells about its judges: a part of both clients."""

from abc import ABC, abstractmethod
from typing import TypeVar

from nuggetstream.client import calls
from nuggetstream.client.calls import Call
from nuggetstream.views.biases import JudgeBiasView
from nuggetstream.views.canary import CanaryRunView

T = TypeVar("T")


class JudgeChecks(ABC):
    """Requests about the judges themselves."""

    @abstractmethod
    def _ask(self, call: Call[T]) -> T: ...

    def judge_biases(self, arena: str = "default") -> list[JudgeBiasView]:
        """What the verdicts of each judge and model depend on beside the answers."""
        return self._ask(calls.judge_biases(arena))

    def canary(self) -> list[CanaryRunView]:
        """The latest canary battles of every judge and model."""
        return self._ask(calls.canary())


class AsyncJudgeChecks(ABC):
    """Requests about the judges themselves, see `JudgeChecks`."""

    @abstractmethod
    async def _ask(self, call: Call[T]) -> T: ...

    async def judge_biases(self, arena: str = "default") -> list[JudgeBiasView]:
        """What the verdicts of each judge and model depend on beside the answers."""
        return await self._ask(calls.judge_biases(arena))

    async def canary(self) -> list[CanaryRunView]:
        """The latest canary battles of every judge and model."""
        return await self._ask(calls.canary())
