"""`nuggetstream study`: ask people about battles, and export what they answer, over the API."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from nuggetstream.client import Client
from nuggetstream.client.crowd_studies import MOST_ANSWERS
from nuggetstream.domain.battle import Vote
from nuggetstream.files.crowd_study import read_crowd_study
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.ratings.comparison import UNREACHABLE, Separation
from nuggetstream.views.crowd_studies import CrowdStudyView, StudyAnswer
from services.cli.commands.administrator import JSON, asking_gateway, echo_each
from services.cli.commands.showing import needing_extras, refusing
from services.cli.commands.study_tables import (
    LABEL_COLUMNS,
    WORKER_COLUMNS,
    label_rows,
    worker_row,
    write_rows,
)

_VOTES = {"a": Vote.A, "b": Vote.B, "n": Vote.TIE}
_ID = click.argument("study_id", metavar="ID")


@click.group("study")
def command() -> None:
    """Ask people which of two answers is better, on pages of the gateway.

    It asks a running gateway with NUGGETSTREAM_API_KEY (role admin) or NUGGETSTREAM_ADMIN_TOKEN, if set.
    docs/asking-people.md says what a study's file has.
    """


@command.command("add")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@asking_gateway
def add_command(client: Client, file: Path) -> None:
    """Add the study that FILE (TOML) describes. Prints its id, and the link for workers.

    Exits 2 when the file cannot be used, naming every field that is wrong.
    """
    with refusing(UnusableFile):
        study = read_crowd_study(file)
    added = client.add_study(study)
    gateway = click.get_current_context().params["gateway"].rstrip("/")
    click.echo(f"link {gateway}{added.link}", err=True)
    click.echo(added.id)


@command.command("list")
@click.option("--arena", help="Only studies of this arena.")
@JSON
@asking_gateway
def list_command(client: Client, arena: str | None, as_json: bool) -> None:
    """List studies and what their boards still need. How far each study is stands beside it."""
    studies = client.studies(arena)
    echo_each(studies, _line, as_json=as_json)


@command.command("labels", short_help="Write the labels as CSV, for `nuggetstream crowd`.")
@_ID
@asking_gateway
def labels_command(client: Client, study_id: str) -> None:
    """Write the labels of the study with this ID as CSV, one per row, as `nuggetstream crowd` reads them."""
    rows = (row for answer in _answers(client, study_id) for row in label_rows(answer))
    write_rows(sys.stdout, LABEL_COLUMNS, rows)


@command.command("workers", short_help="Write workers and completion codes as CSV.")
@_ID
@asking_gateway
def workers_command(client: Client, study_id: str) -> None:
    """Write the workers of the study with this ID as CSV, with their completion codes and gold items."""
    workers = client.study_workers(study_id)
    write_rows(sys.stdout, WORKER_COLUMNS, map(worker_row, workers))


@command.command("vote", short_help="Make people's label of each pair its human vote.")
@_ID
@click.option(
    "--dimension", default="quality_overall", show_default=True, help="Dimension whose label is the vote."
)
@click.option("--majority", is_flag=True, help="Take the label with the most votes, not the one by MACE.")
@asking_gateway
@needing_extras
def vote_command(client: Client, study_id: str, dimension: str, *, majority: bool) -> None:
    """Send the label of each pair of the study with this ID as the human vote of its battle.

    The vote replaces an earlier one, and counts in the human lens and in ratings that combine it. A pair on
    which two labels are equally probable, or have as many votes, gets none.
    """
    from nuggetstream.api.crowd import crowd_agreement

    rows = [row for answer in _answers(client, study_id) for row in label_rows(answer)]
    labels = [row for row in rows if row["dimension"] == dimension]
    if any(row["label"] not in _VOTES for row in labels) or (rows and not labels):
        raise click.UsageError(f"the study has no preferences in the dimension {dimension!r}")
    names = ("item", "worker", "dimension", "label")
    vote_rows = [{name: row[name] for name in names} for row in labels]
    table = crowd_agreement(vote_rows).gold_table() if vote_rows else None
    questions = [] if table is None else [dict(zip(table.names, row, strict=True)) for row in table.rows]
    votes = {str(row["item"]): row["majority" if majority else "gold"] for row in questions}
    decided = {battle: _VOTES[str(label)] for battle, label in votes.items() if label is not None}
    for battle, vote in decided.items():
        client.vote(battle, vote)
    click.echo(f"voted on {len(decided)} of {many(len(votes), 'labelled pair')}")


@command.command("close")
@_ID
@asking_gateway
def close_command(client: Client, study_id: str) -> None:
    """Give out no more pairs of the study with this ID."""
    client.close_study(study_id)
    click.echo(f"closed {study_id}")


@command.command("remove")
@_ID
@asking_gateway
def remove_command(client: Client, study_id: str) -> None:
    """Delete the study with this ID. Its workers and all of their answers are deleted, too."""
    client.remove_study(study_id)
    click.echo(f"removed {study_id}")


@command.command("remove-worker")
@_ID
@click.argument("worker_id", metavar="WORKER")
@asking_gateway
def remove_worker_command(client: Client, study_id: str, worker_id: str) -> None:
    """Delete WORKER of the study with this ID. Everything that it answered is deleted, too."""
    client.remove_worker(study_id, worker_id)
    click.echo(f"removed {worker_id}")


def _answers(client: Client, study_id: str) -> Iterator[StudyAnswer]:
    after = None
    while True:
        answers = client.study_answers(study_id, after)
        yield from answers
        if len(answers) < MOST_ANSWERS:
            return
        after = f"{answers[-1].worker},{answers[-1].item}"


def _line(study: CrowdStudyView) -> str:
    state = "open" if study.closed_at is None else "closed"
    people = (
        f"{study.answered} of {study.wanted} answers, {study.finished} of {study.workers} workers finished"
    )
    edge = ""
    if study.boundary is not None:
        labels = study.boundary.labels
        if labels is None:
            needs = "unknown"
        else:
            needs = f"{labels} more labels" if labels <= UNREACHABLE else Separation.EQUAL.words
        edge = f"; between {study.boundary.last} and {study.boundary.next}: {needs}"
    return f"{study.id}  {state}  {study.arena}  {study.name}: {people}{edge}"
