"""Battles of a file, evaluated on the embedded platform, with the files of results."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from nuggetstream.domain.lens import Lens
from nuggetstream.files.dataset import BadLine
from nuggetstream.files.numerals import many
from services.cli.commands.showing import BadInput
from services.cli.evaluation.batching import waiting_for_batches
from services.cli.evaluation.demo_folder import unmark
from services.cli.evaluation.folder import Evaluated, FolderResults
from services.cli.evaluation.kept_lines import KeptLine
from services.cli.evaluation.ledger import Ledger, Settings
from services.cli.evaluation.meter import Meter
from services.cli.evaluation.run import Evaluation
from services.cli.wiring.embedded import Choices, embedded
from services.cli.wiring.process import read_settings
from services.cli.wiring.settings import PipelineSettings, PlatformSettings
from services.cli.wiring.tuning import BATCHED_BATTLES

_SHOWN_ONLY = frozenset(("nugget_lens", "tie_policy", "canary_seconds", "evaluator_options"))
_OF_REPLIES = {"model", "decision_model", "temperature", "effort"}  # what of a stage's model changes replies
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


class MixedSettings(BadInput):
    """The folder has battles that were evaluated with other settings; says which, and what to do."""

    def __init__(self, out: Path, others: Mapping[tuple[str, ...], int], settings: Settings) -> None:
        ((first, battles), *_) = sorted(others.items(), key=lambda other: -other[1])
        names = [part.partition("=")[0] for part in first]
        own = ", ".join(f"{name}={settings.get(name) or 'none'}" for name in names)
        super().__init__(
            f"{out} has {many(battles, 'battle')} evaluated with {', '.join(first)}, and this run has {own}: "
            "choose another folder with --out, or continue with --mix, and the results name both"
        )


@dataclass(frozen=True, slots=True)
class _Pace:
    """How many battles are in flight at once, and seconds between two looks at them and two lines."""

    window: int
    poll: float
    line_every: float


_ALONE = _Pace(window=64, poll=0.5, line_every=10.0)
_BATCHED = _Pace(window=BATCHED_BATTLES, poll=2.0, line_every=600.0)


@dataclass(frozen=True, slots=True)
class Continuing:
    """How an evaluation goes on from what its folder has.

    Attributes:
        retry_failed: Whether battles that failed in an earlier run are evaluated again.
        redo_changed: Whether battles whose content has changed are evaluated again.
        mix: Whether battles of the folder may have been evaluated with other settings.
        alone: Whether results and boards are those of the given battles alone, and not of all in the folder.
    """

    retry_failed: bool = False
    redo_changed: bool = False
    mix: bool = False
    alone: bool = False


async def evaluate(
    contents: Contents,
    choices: Choices,
    console: Console,
    stop: asyncio.Event,
    *,
    out: Path,
    how: Continuing = Continuing(),
) -> Evaluated | None:
    """Evaluate battles and write the results, also of what there is when it is stopped.

    Args:
        contents: The battles.
        choices: The configuration, whose folder has the state.
        console: Shows the progress.
        stop: Ends the run early.
        out: Folder for the results.
        how: How it goes on from what the folder has.

    Returns:
        None when it was stopped before the end.

    Raises:
        MixedSettings: The folder has battles that were evaluated with other settings.
    """
    ledger, settings = Ledger(out / STATE), settings_of(choices)
    if not (how.mix or how.alone) and (others := ledger.others(settings, ledger.battles)):
        raise MixedSettings(out, others, settings)
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
                retry_failed=how.retry_failed,
                redo_changed=how.redo_changed,
                in_order=choices.pipeline.shares_nuggets,
                window=pace.window,
                nuggets=Lens(choices.pipeline.nugget_lens),
                poll=pace.poll,
            )
            folder = FolderResults(out, contents.rejected, evaluation, ledger, alone=how.alone)
            evaluation.prepared = partial(folder.note, settings)
            evaluation.save = folder.save
            if not await evaluation.run():
                await folder.finish()
                return None
        name_rejected(contents.file, evaluation.rejected)
        evaluated = await folder.finish()
        if choices.batches is not None:
            await choices.batches.finish()
    return evaluated


def settings_of(choices: Choices) -> Settings:
    """The settings that change what an evaluation gives, by name."""
    evaluators = choices.evaluators
    if evaluators is None:
        evaluators = read_settings(PlatformSettings).evaluators
    pipeline = {
        name: str(value)
        for name, value in choices.pipeline.model_dump(mode="json").items()
        if name not in _SHOWN_ONLY and value is not None
    }
    stages = {
        name: stage.model_dump(include=_OF_REPLIES, exclude_none=True)
        for name, stage in choices.llm.stages.items()
    }
    more = {"stages": json.dumps(stages, sort_keys=True)} if any(stages.values()) else {}
    model = {"model": choices.llm.model_name, "evaluators": ", ".join(evaluators)}
    return model | pipeline | more


def name_rejected(file: Path, rejected: Sequence[BadLine]) -> None:
    """Name rejected lines, and what is wrong with them, on standard error."""
    for row in rejected:
        click.echo(f"{file}:{row.line}: {'; '.join(row.problems)}", err=True)


def sharing(pipeline: PipelineSettings) -> PipelineSettings:
    """The settings with nugget lists that battles of the file share, unless the operator set it."""
    if pipeline.nugget_bank_hours is not None:
        return pipeline
    return pipeline.model_copy(update={"nugget_bank_hours": math.inf})
