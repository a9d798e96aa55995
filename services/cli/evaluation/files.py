"""Battles of a file, evaluated on the embedded platform, with the files of results."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from nuggetstream.domain.lens import Lens
from nuggetstream.files.dataset import BadLine
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
        boards = await evaluation.boards()
        name_rejected(contents.file, evaluation.rejected)
        references = {name: line.reference for name, line in evaluation.accepted.items()}
        with ResultsFile(out, references) as results:
            async for view in evaluation.views():
                results.add(view)
            summary = results.finish([*contents.rejected, *evaluation.rejected], boards)
        if choices.batches is not None:
            await choices.batches.finish()
    return Evaluated(summary, boards, len(evaluation.rejected))


def name_rejected(file: Path, rejected: Sequence[BadLine]) -> None:
    """Name rejected lines, and what is wrong with them, on standard error."""
    for row in rejected:
        click.echo(f"{file}:{row.line}: {'; '.join(row.problems)}", err=True)


def sharing(pipeline: PipelineSettings) -> PipelineSettings:
    """The settings with nugget lists that battles of the file share, unless the operator set it."""
    if pipeline.nugget_bank_hours is not None:
        return pipeline
    return pipeline.model_copy(update={"nugget_bank_hours": math.inf})
