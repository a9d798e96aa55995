"""The batches of a command that waits for them: `eval --batch` and `rubric grade --batch`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import click
from rich.console import Console

from services.runtime.llm.batches.transport import Batches
from services.runtime.llm.settings import LLMSettings


def batches_of(llm: LLMSettings, folder: Path, console: Console) -> Batches:
    """The batches of a run, whose records are in a folder.

    Raises:
        click.ClickException: No endpoint is configured.
    """
    if llm.offline:
        raise click.ClickException("--batch needs a model's endpoint: set NUGGETSTREAM_LLM_API_KEY")
    return Batches(folder / "batches", partial(console.print, highlight=False, soft_wrap=True))


@asynccontextmanager
async def waiting_for_batches(batches: Batches | None, llm: LLMSettings) -> AsyncIterator[None]:
    """Upload and poll during the block, at endpoints that have batches."""
    if batches is None:
        yield
        return
    async with batches.running():
        await batches.check(llm)
        yield
