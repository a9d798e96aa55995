"""`nuggetstream crowd VOTES`: what the labels of a crowd say together, and whom to trust."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nuggetstream.crowd.learning import Method
from nuggetstream.crowd.votes import Columns, shortest
from nuggetstream.files.dataset import UnusableFile
from services.cli.crowd_options import CROWD_OPTIONS
from services.cli.rating_options import with_options
from services.cli.showing import needing_analysis, refusing, show

if TYPE_CHECKING:
    from nuggetstream.crowd.study import Question


@click.command("crowd")
@click.argument("votes", type=click.Path(path_type=Path, dir_okay=False))
@with_options(CROWD_OPTIONS)
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Rows shown per table.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for crowd.json, gold.csv, workers.csv.",
)
@needing_analysis
def command(votes: Path, out: Path | None, limit: int, **given: Any) -> None:
    """Agreement, gold labels and competence from VOTES, the labels that workers gave to items.

    A file is CSV with a header or JSONL, gzipped or not. A row is one label with its `item`, `worker` and
    `label`, and perhaps its `dimension`; or one item with a list of workers and a list NAME_vote per
    dimension. Labels a, n (or tie) and b choose between two answers.

    Exits 2 when a file cannot be used, naming file, line and field.
    """
    from nuggetstream.crowd.drawing import draw
    from nuggetstream.crowd.scale import NoOrder
    from nuggetstream.crowd.study import study
    from nuggetstream.crowd.writing import write_study

    with refusing(UnusableFile, NoOrder):
        found = study(_question(votes, given))
        written = write_study(found, out) if out else []
    show(draw(found, limit))
    for path in written:
        click.echo(f"written: {path}")


def _question(votes: Path, given: dict[str, Any]) -> "Question":
    from nuggetstream.crowd.scale import Asked
    from nuggetstream.crowd.study import Question
    from nuggetstream.statistics.krippendorff import Level

    if given["dimension"] and len(given["label"]) > 1:
        raise click.UsageError("--dimension goes with one --label; several are a dimension each")
    return Question(
        file=votes,
        columns=Columns(
            items=given["item"],
            worker=given["worker"],
            labels=given["label"],
            dimension=given["dimension"],
            spam=given["spam"],
            sides=given["sides"],
            place=given["place"],
        ),
        asked=Asked(_labels(given["labels"]), Level(given["level"]) if given["level"] else None),
        method=Method(given["spam_limit"], given["restarts"], given["iterations"], given["seed"]),
        needed=given["needed"],
        decided=given["decided"],
    )


def _labels(said: Iterable[str]) -> dict[str, tuple[str, ...]]:
    labels: dict[str, tuple[str, ...]] = {}
    for each in said:
        name, _, listed = each.rpartition("=")
        if name in labels:
            raise click.UsageError(f"--labels: {name or 'all dimensions'} twice")
        labels[name] = tuple(shortest(label.strip()) for label in listed.split(",") if label.strip())
    return labels
