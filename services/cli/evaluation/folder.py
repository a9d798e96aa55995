"""The results of a folder: of all battles that were evaluated in it, whichever file and run they came from.

They are written at the end, where a run is stopped, and now and then in between, so that what there is can be
read at any time, also after the process was killed.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.human_vote import common_vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.progress import BattleState
from nuggetstream.domain.slice import Slice
from nuggetstream.files.dataset import BadLine
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.report.summary import Summary
from services.cli.evaluation.kept_lines import KeptLine
from services.cli.evaluation.ledger import Ledger, Noted, Settings
from services.cli.evaluation.results import ResultsFile
from services.cli.evaluation.run import Evaluation
from services.rater.counting import Counted, board_of_counts
from services.rater.views import board_view
from services.store.batches import batches
from services.store.battles.battles import Battles
from services.store.outcomes.consensus import common_outcomes
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.outcomes import LensCounts, Outcomes

_SAVE_AFTER = 1.0  # seconds between two times at least
_SAVE_SHARE = 0.1  # of the time, at most, is spent on saving


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation gave.

    Attributes:
        summary: Its summary.
        boards: Leaderboards as the API shows them.
        evaluation: The run, with what it rejected and what votes changed.
        unfinished: Number of battles of the folder that have not ended, and are not in the results.
    """

    summary: Summary
    boards: Sequence[Mapping[str, Any]]
    evaluation: Evaluation
    unfinished: int


class FolderResults:
    """Writes the results of a folder.

    Args:
        out: The folder.
        rejected: Lines of the file that are no battle.
        evaluation: The run.
        ledger: What is remembered of the folder's battles.
        alone: Whether the results are those of the run's battles alone.
    """

    def __init__(
        self, out: Path, rejected: Sequence[BadLine], evaluation: Evaluation, ledger: Ledger, *, alone: bool
    ) -> None:
        self._out, self._rejected, self._evaluation, self._ledger = out, rejected, evaluation, ledger
        self._alone = alone
        self._battles = Battles(evaluation.platform.database)
        self._due = time.monotonic() + _SAVE_AFTER

    def note(self, settings: Settings, kept: Collection[str]) -> None:
        """Remember the human references of the run's battles, and the settings of those that it evaluates.

        Args:
            settings: The settings of the run.
            kept: Ids of the battles that keep their results.
        """
        changed = {line.id for line in self._evaluation.changed}
        noted, kept = [], frozenset(kept)
        for battle_id, reference in references_of(self._evaluation.lines).items():
            earlier = self._ledger.battles.get(battle_id, Noted(battle_id))
            if battle_id in kept:
                noted.append(Noted(battle_id, {**earlier.reference, **reference}, earlier.settings))
            else:
                noted.append(Noted(battle_id, reference, settings))
        self._ledger.note(battle for battle in noted if battle.id not in changed)

    async def save(self) -> None:
        """Write `results.jsonl` with the battles that have ended, unless it was written a moment ago."""
        started = time.monotonic()
        if started < self._due:
            return
        ids, _ = await self._ended()
        with ResultsFile(self._out, self._ledger.battles) as results:
            async for view in self._evaluation.views(ids):
                results.add(view)
            results.keep()
        now = time.monotonic()
        self._due = now + max(_SAVE_AFTER, (now - started) / _SAVE_SHARE)

    async def finish(self) -> Evaluated:
        """Write all files of results, of the battles that have ended."""
        ids, unfinished = await self._ended()
        flagged = set[str]()
        with ResultsFile(self._out, self._ledger.battles) as results:
            async for view in self._evaluation.views(ids):
                results.add(view)
                flagged.update([view["id"]] if view["flags"] else [])
            boards = await self._boards(ids, flagged)
            summary = results.finish([*self._rejected, *self._evaluation.rejected], boards)
        return Evaluated(summary, boards, self._evaluation, unfinished)

    async def _ended(self) -> tuple[list[str], int]:
        """The ids of the battles that have ended, in the order in which they came, and how many have not."""
        states = await self._battles.states()
        names = self._evaluation.accepted if self._alone else {**self._ledger.battles, **states}
        ended = [name for name in names if states.get(name, BattleState.RUNNING) is not BattleState.RUNNING]
        return ended, sum(name in states for name in names) - len(ended)

    async def _boards(self, ids: Sequence[str], flagged: Collection[str]) -> list[dict[str, Any]]:
        """The boards of the folder; where the results are those of some battles, of these battles alone."""
        arenas = list(await self._battles.arenas())
        if not self._alone:
            return await self._evaluation.boards(arenas)
        stored = Outcomes(self._evaluation.platform.database)
        outcomes, boards, accepted = list[Outcome](), list[dict[str, Any]](), self._evaluation.accepted
        for board in await self._evaluation.boards():
            excludes = board["method"]["slice"]["flagged"] == Flagged.EXCLUDE
            counted = {
                name
                for name, line in accepted.items()
                if line.arena == board["arena"] and not (excludes and name in flagged)
            }
            if board["received"] == len(counted):
                boards.append(board)
                continue
            for part in batches(() if outcomes else list(ids)):
                by_battle = await stored.of_battles(part)
                outcomes += common_outcomes(outcome for own in by_battle.values() for outcome in own)
            boards.append(await asyncio.to_thread(_board_of, board, outcomes, counted, flagged))
        return boards


def references_of(lines: Sequence[KeptLine]) -> dict[str, dict[str, Vote]]:
    """The human preferences of battles by dimension; of several lines of a battle, those of the majority.

    Lines with other content than the first one of their battle are left out.
    """
    first: dict[str, KeptLine] = {}
    votes: dict[str, dict[str, list[Vote]]] = {}
    for line in lines:
        if first.setdefault(line.id, line).content_hash != line.content_hash:
            continue
        by_dimension = votes.setdefault(line.id, defaultdict(list))
        for dimension, vote in line.reference.items():
            by_dimension[dimension].append(vote)
    return {
        battle_id: {dimension: common_vote(cast) for dimension, cast in by_dimension.items()}
        for battle_id, by_dimension in votes.items()
    }


def _board_of(
    board: Mapping[str, Any], outcomes: Sequence[Outcome], counted: Collection[str], flagged: Collection[str]
) -> dict[str, Any]:
    """A board of these battles alone, with the options of another board of its arena and lens."""
    arena, lens = board["arena"], Lens(board["lens"])
    votes = [
        (outcome.system_a, outcome.system_b, outcome.winner, 1)
        for outcome in outcomes
        if outcome.lens is lens and outcome.battle_id in counted and outcome.system_a != outcome.system_b
    ]
    counts = LensCounts(tally=Tally.count(votes), outcomes=len(votes), decided=len(votes), stamp=None)
    policy, slice_ = TiePolicy(board["tie_policy"]), Slice(flagged=board["method"]["slice"]["flagged"])
    method = board["method"]
    options = Options(
        policy=policy,
        intervals=Intervals(method["intervals"]),
        resamples=method["resamples"] or None,
        level=board["level"],
    )
    view = board_view(
        Counted(arena, lens, slice_, counts),
        board_of_counts(counts.tally, options),
        slice_,
        received=len(counted),
        flagged=len(set(counted) & set(flagged)),
        evaluators=board["evaluators"],
        detected=0,
    )
    return view.model_dump(mode="json")
