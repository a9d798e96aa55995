"""Evaluate a file of battles on the embedded platform: submit, wait, collect.

The state of the platform is in the output folder. A second run skips battles that have ended, continues those
in flight and pays for nothing twice.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import httpx2

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.progress import BattleState
from nuggetstream.files.dataset import BadLine
from services.cli.evaluation.graded import graded
from services.cli.evaluation.kept_lines import KeptLine
from services.cli.wiring.embedded import Embedded
from services.gateway.battles.assembly import assemble
from services.runtime.polling import pause
from services.store.battles.battles import Battles
from services.store.spend.costs import CostLine, Costs
from services.store.spend.spend import DatabaseSpendStore

_POLL = 0.5  # seconds
_NDJSON = {"content-type": "application/x-ndjson"}
_REQUEST_BYTES = 1024 * 1024  # battles of so many bytes are one request; a larger battle is one of its own
_CLIENT_ERROR, _SERVER_ERROR = 400, 500
_VIEWS_AT_ONCE = 16  # battles that are read together, which takes less time than one by one


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of an evaluation.

    Attributes:
        done: Number of battles that were scored.
        failed: Number of battles that failed.
        total: Number of battles in the file.
        cost: Money spent so far; None (unknown, not zero) where the price of a call is unknown.
        currency: Currency of the cost.
        calls: Number of model calls so far.
    """

    done: int
    failed: int
    total: int
    cost: Decimal | None
    currency: str = "USD"
    calls: int = 0


@dataclass(slots=True)
class Evaluation:
    """One run over a file.

    Attributes:
        platform: The running platform.
        lines: The battles of the file.
        report: Called with the progress.
        stop: Event that ends the run early.
        window: Number of battles in flight at once; enough to keep all stages busy.
        currency: Currency of the operator's price table.
        retry_failed: Whether battles that failed in an earlier run are evaluated again.
        nuggets: The preference by nuggets that explanations lead with.
        poll: Seconds between two looks at the battles in flight.
        accepted: The line of each accepted battle, by battle id.
        rejected: Lines that the platform rejected.
    """

    platform: Embedded
    lines: Sequence[KeptLine]
    report: Callable[[Progress], None]
    stop: asyncio.Event
    window: int = 64
    currency: str = "USD"
    retry_failed: bool = False
    nuggets: Lens = Lens.NUGGET
    poll: float = _POLL
    accepted: dict[str, KeptLine] = field(default_factory=dict)
    rejected: list[BadLine] = field(default_factory=list)
    _ids: Collection[str] = field(init=False)  # of all battles, each once
    _ended: dict[str, BattleState] = field(default_factory=dict)
    _waiting: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._ids = dict.fromkeys(line.id for line in self.lines)

    async def run(self) -> bool:
        """Submit all battles and wait until every battle has ended and every evaluator has graded.

        Returns:
            False when it was stopped before the end.
        """
        await self._check_ended(self._ids)
        if self.retry_failed:
            self._ended = {name: state for name, state in self._ended.items() if state is BattleState.SCORED}
        async with httpx2.AsyncClient(base_url=self.platform.url, timeout=60) as http:
            async for lines in self._to_submit():
                await self._submit(http, lines)
                while len(self._waiting) >= self.window and not self.stop.is_set():
                    await self._pause()
                if self.stop.is_set():
                    return False
        while self._waiting and not self.stop.is_set():
            await self._pause()
        return not self._waiting and await graded(self.platform.bus, self.platform.evaluators, self.stop)

    async def views(self) -> AsyncIterator[dict[str, Any]]:
        """All accepted battles as the API shows them, in the order of the file, with their costs.

        Raises:
            LookupError: A battle was deleted meanwhile.
        """
        ids = list(self.accepted)
        for start in range(0, len(ids), _VIEWS_AT_ONCE):
            for view in await asyncio.gather(*map(self._view_of, ids[start : start + _VIEWS_AT_ONCE])):
                yield view

    async def boards(self) -> list[dict[str, Any]]:
        """The boards of all arenas in the file."""
        arenas = dict.fromkeys(line.arena for line in self.lines)
        async with httpx2.AsyncClient(base_url=self.platform.url, timeout=60) as http:
            responses = [await http.get("/v1/leaderboard", params={"arena": arena}) for arena in arenas]
        return [board for response in responses for board in response.raise_for_status().json()]

    async def _view_of(self, battle_id: str) -> dict[str, Any]:
        battle = await Battles(self.platform.database).whole(battle_id)
        if battle is None:
            raise LookupError(f"battle {battle_id!r} was deleted")
        view = assemble(battle.row, battle.body, battle.events, self.nuggets)
        return view.model_dump(mode="json") | await self._costs_of(battle_id)

    async def _costs_of(self, battle_id: str) -> dict[str, Any]:
        """The `cost` of a battle, and its `spend` per stage and model."""
        lines = await Costs(self.platform.database).of_battle(battle_id)
        spend = [
            {"stage": line.stage, "model": line.model, "calls": line.calls}
            | {"input_tokens": line.input_tokens, "output_tokens": line.output_tokens}
            | {"cost": self._cost([line])}
            for line in lines
        ]
        return {"cost": self._cost(lines), "spend": spend}

    def _cost(self, lines: Sequence[CostLine]) -> dict[str, str] | None:
        """The cost of model calls; None (unknown, not zero) where the price of a call is unknown."""
        amounts = [
            line.amount for line in lines if line.amount is not None and line.currency == self.currency
        ]
        if len(amounts) < len(lines):
            return None
        return {"amount": str(sum(amounts, Decimal(0))), "currency": self.currency}

    async def _to_submit(self) -> AsyncIterator[list[KeptLine]]:
        """The lines whose battles have not ended, as many at a time as there is room for in flight."""
        lines: list[KeptLine] = []
        for line in self.lines:
            if await self._has_ended(line):
                continue
            lines.append(line)
            in_flight = len(self._waiting) + len(lines)
            if in_flight >= self.window or sum(line.size for line in lines) >= _REQUEST_BYTES:
                yield lines
                lines = []
        if lines:
            yield lines

    async def _has_ended(self, line: KeptLine) -> bool:
        """Whether the battle of a line has ended, in this run or an earlier one; then it is accepted."""
        if line.id not in self._ended:
            return False
        stored = await Battles(self.platform.database).get(line.id)
        if stored is None or stored.content_hash != line.content_hash:
            return False
        self.accepted.setdefault(line.id, line)
        return True

    async def _submit(self, http: httpx2.AsyncClient, lines: Sequence[KeptLine]) -> None:
        """Submit battles in one request, and repeat those that the platform answers with a server error."""
        while lines:
            results = await self._post(http, lines)
            failed = []
            for line, result in zip(lines, results, strict=True):
                if result["status"] >= _SERVER_ERROR:
                    failed.append(line)
                elif result["status"] >= _CLIENT_ERROR:
                    problems = tuple(result.get("problems") or [result["error"]])
                    self.rejected.append(BadLine(line.line, problems))
                else:
                    self.accepted.setdefault(line.id, line)
                    self._waiting.add(line.id)
            lines = failed
            if lines:
                await self._pause()
                if self.stop.is_set():
                    return

    async def _post(self, http: httpx2.AsyncClient, lines: Sequence[KeptLine]) -> list[dict[str, Any]]:
        """One result per line; where the whole request is answered with a server error, that for each."""
        body = b"\n".join(line.submission() for line in lines)
        response = await http.post("/v1/battles", content=body, headers=_NDJSON)
        if response.is_server_error:
            return [{"status": response.status_code}] * len(lines)
        return [json.loads(line) for line in response.raise_for_status().content.splitlines()]

    async def _pause(self) -> None:
        await pause(self.poll, self.stop)
        if not self.stop.is_set():
            await self._check_ended(self._waiting)

    async def _check_ended(self, ids: Collection[str]) -> None:
        """Check which of the given battles have ended, and report the progress."""
        battles = Battles(self.platform.database)
        ended = await battles.ended_among(list(ids))
        self._ended |= ended
        self._waiting.difference_update(ended)
        self.report(await self._progress())

    async def _progress(self) -> Progress:
        """The progress of this run, and the calls and costs of this run and earlier ones."""
        spent = await DatabaseSpendStore(self.platform.database, self.currency).total()
        done = list(self._ended.values()).count(BattleState.SCORED)
        return Progress(
            done=done,
            failed=len(self._ended) - done,
            total=len(self._ids),
            cost=None if spent.unpriced else spent.amount,
            currency=self.currency,
            calls=spent.calls,
        )
