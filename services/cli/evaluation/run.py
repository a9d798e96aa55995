"""Evaluate a file of battles on the embedded platform: submit, wait, collect.

The state of the platform is in the output folder. A second run skips battles that have ended, continues those
in flight and pays for nothing twice.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import httpx2

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.progress import BattleState
from nuggetstream.files.dataset import BadLine
from services.cli.evaluation.graded import graded
from services.cli.evaluation.kept_lines import KeptLine
from services.cli.evaluation.schedule import Schedule
from services.cli.evaluation.votes import MergedVotes, merge_votes
from services.cli.wiring.embedded import Embedded
from services.gateway.battles.assembly import assemble
from services.runtime.polling import pause
from services.store.batches import batches
from services.store.battles.battles import BattleRow, Battles
from services.store.spend.costs import CostLine, Costs
from services.store.spend.spend import DatabaseSpendStore

_POLL = 0.5  # seconds
_NDJSON = {"content-type": "application/x-ndjson"}
_REQUEST_BYTES = 1024 * 1024  # battles of so many bytes are one request; a larger battle is one of its own
_CLIENT_ERROR, _STILL_RUNNING, _SERVER_ERROR = 400, 409, 500
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
        redo_changed: Whether battles whose content has changed since an earlier run are evaluated again.
        in_order: Whether battles with one query are sent in the order of their contents.
        nuggets: The preference by nuggets that explanations lead with.
        poll: Seconds between two looks at the battles in flight.
        prepared: Called with the ids of the battles that keep their results, before others are sent.
        save: Called between two looks when battles have ended; it saves what there is.
        accepted: The first line of each accepted battle, by battle id.
        rejected: Lines that the platform rejected.
        changed: Lines whose battles keep the result of an earlier run, which had other content.
        votes: What votes of the file changed in battles of earlier runs.
    """

    platform: Embedded
    lines: Sequence[KeptLine]
    report: Callable[[Progress], None]
    stop: asyncio.Event
    window: int = 64
    currency: str = "USD"
    retry_failed: bool = False
    redo_changed: bool = False
    in_order: bool = False
    nuggets: Lens = Lens.NUGGET
    poll: float = _POLL
    prepared: Callable[[Collection[str]], None] | None = None
    save: Callable[[], Awaitable[None]] | None = None
    accepted: dict[str, KeptLine] = field(default_factory=dict)
    rejected: list[BadLine] = field(default_factory=list)
    changed: list[KeptLine] = field(default_factory=list)
    votes: MergedVotes = field(default_factory=MergedVotes)
    _first: dict[str, KeptLine] = field(init=False)
    _new: list[KeptLine] = field(init=False)
    _schedule: Schedule = field(init=False)
    _ended: dict[str, BattleState] = field(default_factory=dict)
    _waiting: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._first = {}
        for line in self.lines:
            first = self._first.setdefault(line.id, line)
            if first.content_hash != line.content_hash:
                why = f"id: {line.id!r} belongs to the battle of line {first.line}, which has other content"
                self.rejected.append(BadLine(line.line, (why,)))

    async def prepare(self) -> Collection[str]:
        """Find out which battles an earlier run evaluated, and which of these have other content now.

        Returns:
            Ids of the battles that keep their results.
        """
        stored = await self._stored()
        self._new = []
        for line in self._first.values():
            if (row := stored.get(line.id)) is None:
                self._new.append(line)
            elif row.content_hash != line.content_hash and self.redo_changed:
                self._new.append(await self._deleted(line))
            elif row.content_hash != line.content_hash:
                self.changed.append(line)
            elif row.ended_at is None or (self.retry_failed and row.state is not BattleState.SCORED):
                self._new.append(line)
            else:
                self.accepted[line.id] = line
                self._ended[line.id] = row.state
        self._schedule = Schedule(self._new, in_order=self.in_order)
        return [*self.accepted, *(line.id for line in self.changed)]

    async def run(self) -> bool:
        """Submit all battles and wait until every battle has ended and every evaluator has graded.

        Returns:
            False when it was stopped before the end.
        """
        kept = await self.prepare()
        if self.prepared is not None:
            self.prepared(kept)
        self.report(await self._progress())
        async with httpx2.AsyncClient(base_url=self.platform.url, timeout=60) as http:
            while self._schedule and not self.stop.is_set():
                lines = self._schedule.take(self.window - len(self._waiting), _REQUEST_BYTES)
                if lines:
                    await self._submit(http, lines)
                else:
                    await self._pause()
            while self._waiting and not self.stop.is_set():
                await self._pause()
            if self.stop.is_set():
                return False
            battles, voted_on = Battles(self.platform.database), list(filter(self._is_of, self.lines))
            self.votes = await merge_votes(http, battles, voted_on, frozenset(kept))
        return await graded(self.platform.bus, self.platform.evaluators, self.stop)

    async def _stored(self) -> dict[str, BattleRow]:
        """The battles of the file that are in the database, by id."""
        stored: dict[str, BattleRow] = {}
        for ids in batches(list(self._first)):
            stored |= await Battles(self.platform.database).get_all(ids)
        return stored

    async def _deleted(self, line: KeptLine) -> KeptLine:
        """A line after the battle with its id, which has other content, was deleted."""
        async with httpx2.AsyncClient(base_url=self.platform.url, timeout=60) as http:
            path = f"/v1/admin/battles/{quote(line.id)}"
            while (response := await http.delete(path)).status_code == _STILL_RUNNING:
                await pause(self.poll, self.stop)
                if self.stop.is_set():
                    return line
            response.raise_for_status()
        return line

    def _is_of(self, line: KeptLine) -> bool:
        """Whether the accepted battle with the id of a line has its content."""
        accepted = self.accepted.get(line.id)
        return accepted is not None and accepted.content_hash == line.content_hash

    async def views(self, ids: Sequence[str] | None = None) -> AsyncIterator[dict[str, Any]]:
        """Battles as the API shows them, with their costs.

        Args:
            ids: The battles in order; None for all accepted ones in the order of the file.

        Raises:
            LookupError: A battle was deleted meanwhile.
        """
        for part in batches(list(self.accepted) if ids is None else ids, _VIEWS_AT_ONCE):
            for view in await asyncio.gather(*map(self._view_of, part)):
                yield view

    async def boards(self, arenas: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """The boards of arenas; by default of all in the file."""
        names = dict.fromkeys(line.arena for line in self.lines) if arenas is None else arenas
        async with httpx2.AsyncClient(base_url=self.platform.url, timeout=60) as http:
            responses = [await http.get("/v1/leaderboard", params={"arena": arena}) for arena in names]
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
                    self._schedule.release([line.id])
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
            await self._check_ended()

    async def _check_ended(self) -> None:
        """Check which battles in flight have ended, and which others can be sent; report the progress."""
        battles = Battles(self.platform.database)
        ended = await battles.ended_among(list(self._waiting))
        self._ended |= ended
        self._waiting.difference_update(ended)
        if self._schedule.awaited:
            self._schedule.release(await battles.listed_among(list(self._schedule.awaited)))
        self.report(await self._progress())
        if ended and self.save is not None:
            await self.save()

    async def _progress(self) -> Progress:
        """The progress of this run, and the calls and costs of this run and earlier ones."""
        spent = await DatabaseSpendStore(self.platform.database, self.currency).total()
        done = list(self._ended.values()).count(BattleState.SCORED)
        return Progress(
            done=done,
            failed=len(self._ended) - done,
            total=len(self._first),
            cost=None if spent.unpriced else spent.amount,
            currency=self.currency,
            calls=spent.calls,
        )
