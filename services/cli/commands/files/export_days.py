"""`nuggetstream export-days`: what was evaluated and spent, as Parquet tables by day."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from nuggetstream.domain.progress import BattleState
from nuggetstream.files.formats.day_tables import write_tables
from nuggetstream.files.formats.exporting import View
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from services.cli.commands.files.day_folders import Bucket, Folder
from services.cli.commands.files.export_file import battles_of, is_since, opened_database
from services.cli.commands.showing import refusing
from services.store.database import Database
from services.store.spend.costs import Costs

_DAY = timedelta(days=1)
_SETTLED = timedelta(hours=1)  # after midnight, when whatever was received before it is stored


class StillRunning(Exception):
    """A battle of the day has not ended; the message is its id."""


@click.command("export-days")
@click.argument("target", metavar="FOLDER|s3://BUCKET/PREFIX")
@click.option("--arena", help="Only battles and costs of this arena.")
@click.option(
    "--since", type=click.DateTime(["%Y-%m-%d"]), help="First day (UTC).  [default: that of the first battle]"
)
def command(target: str, arena: str | None, since: datetime | None) -> None:
    """Write Parquet tables of each day that is over (UTC) to FOLDER/day=YYYY-MM-DD, or below s3://BUCKET/PREFIX.

    The tables are battles, nuggets, labels, judgments, outcomes and spend. The folder of a day appears once
    all its tables are written, in a bucket its table of battles last, and a day that has one is not written
    again. A day with a battle that has not ended is left for the next time. It reads the database
    NUGGETSTREAM_DATABASE_URL, and the usual variables of S3 (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL and so on).
    """
    days = Bucket(target.rstrip("/")) if target.startswith("s3://") else Folder(Path(target))
    with refusing(UnusableFile), asyncio.Runner() as runner, opened_database(runner) as database:
        writer = _Writer(runner, database, days, arena)
        costs, over = Costs(database), (datetime.now(UTC) - _SETTLED).date()
        day = runner.run(costs.first_day(date.min if since is None else since.date()))
        while day is not None and day < over:
            writer.write(day)
            day = runner.run(costs.first_day(day + _DAY))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the tables of days.

    Attributes:
        runner: Runs the queries.
        database: Whose battles are written.
        days: Where the days are written.
        arena: The only arena that is written; all when None.
    """

    runner: asyncio.Runner
    database: Database
    days: Folder | Bucket
    arena: str | None

    def write(self, day: date) -> None:
        """Write the tables of a day that has none yet, and is not empty."""
        if self.days.has(name := f"day={day}"):
            return
        spend = self._spend(day)
        try:
            with self.days.part(name) as part:
                if (count := write_tables(_ended(self._battles(day)), spend, part)) or spend:
                    self.days.keep(part, name)
                    click.echo(f"{self.days.root}/{name}: {many(count, 'battle')}")
        except StillRunning as battle:
            click.echo(f"{self.days.root}/{name}: not written, because battle {battle} has not ended")

    def _battles(self, day: date) -> Iterable[View]:
        begin, end = (datetime.combine(date_, time(), UTC) for date_ in (day, day + _DAY))
        return takewhile(partial(is_since, begin), battles_of(self.runner, self.database, self.arena, end))

    def _spend(self, day: date) -> list[dict[str, Any]]:
        arenas = None if self.arena is None else [self.arena]
        lines = self.runner.run(Costs(self.database).since(day, arenas, day + _DAY))
        amounts = ({"amount": None if line.amount is None else float(line.amount)} for line in lines)
        return [line.model_dump() | amount for line, amount in zip(lines, amounts, strict=True)]


def _ended(views: Iterable[View]) -> Iterator[View]:
    for view in views:
        if view["state"] == BattleState.RUNNING:
            raise StillRunning(view["id"])
        yield view
