"""Battles of a file, evaluated on the embedded platform, with the files of results."""

import asyncio
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.files.dataset import BadLine
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.report.summary import Summary
from services.cli.evaluation.batching import waiting_for_batches
from services.cli.evaluation.demo_folder import unmark
from services.cli.evaluation.kept_lines import KeptLine
from services.cli.evaluation.meter import Meter
from services.cli.evaluation.results import ResultsFile
from services.cli.evaluation.run import Evaluation
from services.cli.wiring.embedded import Choices, embedded
from services.cli.wiring.settings import PipelineSettings
from services.cli.wiring.tuning import BATCHED_BATTLES
from services.rater.counting import Counted, board_of_counts
from services.rater.views import board_view
from services.store.outcomes.consensus import common_outcomes
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.outcomes import LensCounts, Outcomes

_READ_AT_ONCE = 500  # battles whose outcomes are read together
STATE = "state"
"""Folder with the state of the platform, in the folder of the results."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file contains.

    Attributes:
        file: Its name in messages.
        lines: Its battles.
        rejected: Lines that are no battle.
    """

    file: Path
    lines: Sequence[KeptLine]
    rejected: Sequence[BadLine]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What an evaluation gave.

    Attributes:
        summary: Its summary.
        boards: Leaderboards as the API shows them.
        rejected: Number of battles that the platform rejected.
    """

    summary: Summary
    boards: Sequence[Mapping[str, Any]]
    rejected: int


@dataclass(frozen=True, slots=True)
class _Pace:
    """How many battles are in flight at once, and seconds between two looks at them and two lines."""

    window: int
    poll: float
    line_every: float


_ALONE = _Pace(window=64, poll=0.5, line_every=10.0)
_BATCHED = _Pace(window=BATCHED_BATTLES, poll=2.0, line_every=600.0)


async def evaluate(
    contents: Contents,
    choices: Choices,
    console: Console,
    stop: asyncio.Event,
    *,
    out: Path,
    retry_failed: bool = False,
) -> Evaluated | None:
    """Evaluate battles and write the results; None when it was stopped before the end.

    Args:
        contents: The battles.
        choices: The configuration, whose folder has the state.
        console: Shows the progress.
        stop: Ends the run early.
        out: Folder for the results.
        retry_failed: Whether battles that failed in an earlier run are evaluated again.
    """
    pace = _ALONE if choices.batches is None else _BATCHED
    async with waiting_for_batches(choices.batches, choices.llm), embedded(choices) as platform:
        unmark(out)
        with Meter(console, len(contents.lines), line_every=pace.line_every) as meter:
            evaluation = Evaluation(
                platform=platform,
                lines=contents.lines,
                report=meter.show,
                stop=stop,
                currency=choices.llm.price_table().currency,
                retry_failed=retry_failed,
                window=pace.window,
                nuggets=Lens(choices.pipeline.nugget_lens),
                poll=pace.poll,
            )
            if not await evaluation.run():
                return None
        name_rejected(contents.file, evaluation.rejected)
        references = {name: line.reference for name, line in evaluation.accepted.items()}
        flagged = set[str]()
        with ResultsFile(out, references) as results:
            async for view in evaluation.views():
                results.add(view)
                flagged.update([view["id"]] if view["flags"] else [])
            boards = await _boards(evaluation, flagged)
            summary = results.finish([*contents.rejected, *evaluation.rejected], boards)
        if choices.batches is not None:
            await choices.batches.finish()
    return Evaluated(summary, boards, len(evaluation.rejected))


async def _boards(evaluation: Evaluation, flagged: Collection[str]) -> list[dict[str, Any]]:
    """The boards of the battles of the file, also where the state has battles that the file has no longer."""
    stored, ids = Outcomes(evaluation.platform.database), list(evaluation.accepted)
    outcomes, boards = list[Outcome](), list[dict[str, Any]]()
    for board in await evaluation.boards():
        excludes = board["method"]["slice"]["flagged"] == Flagged.EXCLUDE
        counted = {
            name
            for name, line in evaluation.accepted.items()
            if line.arena == board["arena"] and not (excludes and name in flagged)
        }
        if board["received"] == len(counted):
            boards.append(board)
            continue
        for start in range(0, 0 if outcomes else len(ids), _READ_AT_ONCE):
            by_battle = await stored.of_battles(ids[start : start + _READ_AT_ONCE])
            outcomes += common_outcomes(outcome for own in by_battle.values() for outcome in own)
        boards.append(await asyncio.to_thread(_board_of, board, outcomes, counted, flagged))
    return boards


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


def name_rejected(file: Path, rejected: Sequence[BadLine]) -> None:
    """Name rejected lines, and what is wrong with them, on standard error."""
    for row in rejected:
        click.echo(f"{file}:{row.line}: {'; '.join(row.problems)}", err=True)


def sharing(pipeline: PipelineSettings) -> PipelineSettings:
    """The settings with nugget lists that battles of the file share, unless the operator set it."""
    if pipeline.nugget_bank_hours is not None:
        return pipeline
    return pipeline.model_copy(update={"nugget_bank_hours": math.inf})
