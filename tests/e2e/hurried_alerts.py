"""The shipped alerts in a hurry, and what a real Prometheus says about them.

Half a second of a test stands for a minute of an alert. The expressions are the shipped ones otherwise;
promtool tests them with their own times (`make manifests`).
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.e2e.prometheus import Prometheus, alerts, until

PREFIX = "Nuggetstream"
PATIENCE = 120.0  # seconds for an alert to appear, on a machine that does other work, too
_SECONDS = {"m": 0.5, "h": 30.0}
_LEAST = 5.0  # seconds of a window; one contains several values of each series
_IN_SECONDS = {"> 120": "> 1", "> 1800": "> 15", ", 7200)": ", 60)"}  # limits and horizons


def names() -> set[str]:
    """The names of all shipped alerts, without their prefix."""
    return {rule["alert"].removeprefix(PREFIX) for rule in alerts()}


def _shorter(duration: re.Match[str]) -> str:
    seconds = max(_LEAST, int(duration["number"]) * _SECONDS[duration["unit"]])
    return f"{duration['before']}{round(seconds)}s"


def _hurried(expression: str) -> str:
    for shipped, short in _IN_SECONDS.items():
        expression = expression.replace(shipped, short)
    return re.sub(r"(?P<before>\[|offset )(?P<number>\d+)(?P<unit>[mh])", _shorter, expression)


def hurried_alerts() -> list[dict[str, Any]]:
    """The shipped rules, which look back over seconds and fire after a second."""
    return [rule | {"expr": _hurried(rule["expr"]), "for": "1s"} for rule in alerts()]


@dataclass
class Watch:
    """What fires, and what has fired since `forget`.

    Attributes:
        prometheus: A Prometheus with `hurried_alerts`.
        firing: Labels of the alerts that fire now.
        fired: Labels of those that have fired.
    """

    prometheus: Prometheus
    firing: list[Mapping[str, str]] = field(default_factory=list)
    fired: list[Mapping[str, str]] = field(default_factory=list)

    async def look(self) -> None:
        """Ask Prometheus once."""
        samples = await self.prometheus.query('ALERTS{alertstate="firing"}')
        self.firing = [sample["metric"] for sample in samples]
        self.fired += [labels for labels in self.firing if labels not in self.fired]

    async def _run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(0.25)

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[None]:
        """Look again and again inside the block."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def is_quiet(self, processes: int) -> None:
        """Wait until every process was scraped twice and no alert fires; forget those that did before."""

        async def quiet() -> bool:
            scraped = await self.prometheus.query("count_over_time(up[1m]) > 1")
            await self.look()
            return len(scraped) == processes and not self.firing

        await until(quiet, PATIENCE)
        self.fired.clear()

    async def holds(self, expression: str) -> bool:
        """Whether an expression has a series."""
        return bool(await self.prometheus.query(expression))

    def has_fired(self) -> set[str]:
        """The names of the alerts that have fired."""
        return {labels["alertname"].removeprefix(PREFIX) for labels in self.fired}

    async def fires(self, name: str, **labels: str) -> None:
        """Wait until an alert with these labels has fired."""
        expected = {"alertname": PREFIX + name, **labels}.items()

        async def has() -> bool:
            return any(expected <= found.items() for found in self.fired)

        try:
            await until(has, PATIENCE)
        except TimeoutError:
            (rule,) = [rule for rule in hurried_alerts() if rule["alert"] == PREFIX + name]
            found = await self.prometheus.query(rule["expr"])
            pytest.fail(
                f"{name} {labels} does not fire: {rule['expr']} is {found}, and {self.has_fired()} fired"
            )

    async def ends(self, *alert_names: str) -> None:
        """Wait until none of these alerts fires."""

        def left() -> list[Mapping[str, str]]:
            return [each for each in self.firing if each["alertname"].removeprefix(PREFIX) in alert_names]

        async def end() -> bool:
            return not left()

        try:
            await until(end, PATIENCE)
        except TimeoutError:
            pytest.fail(f"these alerts do not end: {left()}")
