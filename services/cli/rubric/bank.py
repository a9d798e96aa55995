"""`nuggetstream rubric bank …`: question banks that people supply, edit, approve and keep partly secret."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nuggetstream.domain.grouping import grouped
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from services.cli.commands.showing import (
    needing_extras,
    plain_option,
    refusing,
    show,
    show_written,
    with_options,
)
from services.cli.rubric.bank_options import BANK, EDIT_OPTIONS, PAGE_OPTIONS, WHO
from services.cli.rubric.options import FILE
from services.cli.wiring.process import STOPPED, run, server_settings

if TYPE_CHECKING:
    from services.cli.rubric.bank_proposal import BankFiles, ProposedEdit


@click.group("bank")
def bank_group() -> None:
    """Edit, approve and publish the questions of a bank.

    BANK is the file that `rubric grade --bank` takes. Every version is noted with who made it, when and why
    in BANK.history.jsonl beside it.
    """


@bank_group.command("supply", short_help="Make a bank of questions that a person wrote.")
@click.argument("questions", type=FILE)
@click.option("--bank", type=FILE, required=True, help="The bank to write; it must not be there.")
@click.option("--queries", type=FILE, required=True, help="File of the queries, see `rubric grade`.")
@with_options(WHO)
def supply_command(questions: Path, bank: Path, queries: Path, by: str, reason: str) -> None:
    """Make a bank of QUESTIONS: per line the id of a query, a tab and a question."""
    from nuggetstream.files.queries import read_queries
    from nuggetstream.files.text import text_lines
    from nuggetstream.rubric.bank_edit import BankOp, BankOperation, InvalidBankEdit, edited_bank
    from nuggetstream.rubric.bank_file import keep

    with refusing(UnusableFile, InvalidBankEdit):
        if bank.exists():
            raise UnusableFile(f"{bank}: is there already; change it with `rubric bank edit`")
        pairs = (line.rstrip("\r\n").partition("\t") for _, line in text_lines(questions))
        asked = [BankOperation(BankOp.ADD, query.strip(), text) for query, _, text in pairs]
        lines, changes = edited_bank([], asked, read_queries(queries))
        keep(bank, lines, changes, by=by, reason=reason, at=datetime.now(UTC))
    click.echo(f"written: {bank}: {many(len(changes), 'question')} of {many(len(lines), 'query', 'queries')}")


@bank_group.command("edit", short_help="Add, change or remove questions.")
@BANK
@with_options(EDIT_OPTIONS)
@plain_option
@needing_extras
def edit_command(
    bank: Path, graded: Path | None, *, preview: bool, yes: bool, plain: bool, **given: Any
) -> None:
    """Edit BANK, and show how the score of every system changes before the edit is kept.

    With --graded, new questions alone are graded on the passages of the file, by the model that graded it.
    Cover@k, n-EXAM and ranks are shown before and after. Then the edit is kept if you confirm it: BANK and
    the graded file are written. `rubric grade` with the edited bank asks about nothing twice.

    A question whose text changes is another question, and loses its answer keys. Grades by new answer keys
    are computed by the next `rubric grade`.
    """
    from nuggetstream.rubric.bank_edit import InvalidBankEdit
    from nuggetstream.rubric.bank_file import read_lines
    from nuggetstream.rubric.cover import NothingToCover
    from services.cli.rubric.bank_proposal import ProposedEdit

    proposals: list[ProposedEdit] = []
    with refusing(UnusableFile, InvalidBankEdit, NothingToCover):
        read_lines(bank)  # a name with a slip of the keyboard makes no new bank
        files, operations = _files(bank, graded, given), list(_operations(given))

        async def propose(stop: asyncio.Event) -> int | None:
            proposal = await files.propose(operations, stop)
            proposals.extend([] if proposal is None else [proposal])
            return STOPPED if proposal is None else None

        run(propose, server_settings(log_level="error"))
    [proposal] = proposals
    _show_edit(proposal, plain=plain)
    if preview:
        click.echo("nothing was kept", err=plain)
        return
    if not yes:
        click.confirm("Keep this edit?", abort=True, err=plain)
    with refusing(UnusableFile):
        entry = proposal.keep(given["by"], given["reason"])
    show_written([f"{bank}: version {entry.version}", *([graded] if graded else [])], plain=plain)


@bank_group.command("page", short_help="Edit a bank on a web page.")
@BANK
@with_options(PAGE_OPTIONS)
@needing_extras
def page_command(bank: Path, graded: Path | None, port: int, **given: Any) -> None:
    """Serve a page, to this machine alone, on which a person edits, approves and oversees BANK.

    It does what `edit` and `approve` do: every change is shown, with the scores of every system before and
    after if there is a graded file, and is kept once you confirm it. Where there is no BANK, the questions
    that you write about --queries make one. Ctrl-C ends it.
    """
    from services.cli.rubric.bank_page import serve_page

    with refusing(UnusableFile):
        files = _files(bank, graded, given)
        run(partial(serve_page, files, port), server_settings(log_level="error"))


@bank_group.command("approve", short_help="Note that a person approves a bank.")
@BANK
@with_options(WHO)
def approve_command(bank: Path, by: str, reason: str) -> None:
    """Note that a person approves BANK as it is."""
    from nuggetstream.rubric.bank_file import approve

    with refusing(UnusableFile):
        entry = approve(bank, by=by, reason=reason, at=datetime.now(UTC))
    click.echo(f"version {entry.version} is approved by {by}")


@bank_group.command("show", short_help="Show who changed a bank, when and why.")
@BANK
@plain_option
def show_command(bank: Path, *, plain: bool) -> None:
    """Show the history of BANK, and how many of its questions are held back."""
    from nuggetstream.files.result_tables import result_table
    from nuggetstream.files.rubric import items_of_line
    from nuggetstream.rubric.bank_edit import held_back
    from nuggetstream.rubric.bank_file import history_table, is_as_noted, read_lines

    with refusing(UnusableFile):
        lines, table = read_lines(bank), history_table(bank)
        changed = not is_as_noted(bank)
    items = sum(len(items_of_line(line)) for line in lines)
    show(result_table(table), plain=plain)
    click.echo(f"{many(items, 'question')}, {len(held_back(lines))} of them held back", err=plain)
    if changed:
        click.echo("note: the file was changed after its last entry, without `rubric bank`", err=plain)


@bank_group.command("publish", short_help="Write a bank without its held-back questions.")
@BANK
@click.option("--out", type=FILE, required=True, help="The public bank to write.")
@click.option("--graded", type=FILE, help="Graded file to publish, too, without the grades on them.")
@click.option("--graded-out", type=FILE, help="The public graded file to write.")
def publish_command(bank: Path, out: Path, graded: Path | None, graded_out: Path | None) -> None:
    """Write BANK, and a graded file, without what is held back. The history is not published."""
    from nuggetstream.files.rubric import graded_lines
    from nuggetstream.rubric.bank_edit import held_back, public_bank
    from nuggetstream.rubric.bank_file import read_lines, write_lines
    from nuggetstream.rubric.bank_scores import edited_lines

    if (graded is None) is not (graded_out is None):
        raise click.UsageError("name both files with --graded and --graded-out")
    with refusing(UnusableFile):
        lines = read_lines(bank)
        hidden = held_back(lines)
        written = [write_lines(out, public_bank(lines))]
        if graded is not None and graded_out is not None:
            grade_lines = graded_lines(graded)
            removed = {query: hidden for query, _ in grade_lines}
            written.append(write_lines(graded_out, edited_lines(grade_lines, removed, {})))
    show_written(written)
    click.echo(f"left out: {many(len(hidden), 'question')}")


def _files(bank: Path, graded: Path | None, given: dict[str, Any]) -> "BankFiles":
    from nuggetstream.files.queries import read_queries
    from services.cli.rubric.bank_proposal import BankFiles

    return BankFiles(
        bank=bank,
        graded=graded,
        queries=read_queries(given["queries"]) if given["queries"] else {},
        per_question=given["per_question"],
        k=given["k"],
        minimum=given["min_grade"],
    )


def _operations(given: dict[str, Any]) -> Iterator[Any]:
    """The operations that options name; answer keys of one question are given together."""
    from nuggetstream.rubric.bank_edit import BankOp, BankOperation

    yield from (BankOperation(BankOp.REMOVE, item) for item in given["remove"])
    yield from (BankOperation(BankOp.CHANGE, item, text) for item, text in given["change"])
    yield from (BankOperation(BankOp.ADD, query, text) for query, text in given["add"])
    yield from (BankOperation(BankOp.HOLD_BACK, item) for item in given["hold_back"])
    yield from (BankOperation(BankOp.RELEASE, item) for item in given["release"])
    keys = grouped(given["key"]).items()
    yield from (BankOperation(BankOp.KEYS, item, None, tuple(answers)) for item, answers in keys)


def _show_edit(proposal: "ProposedEdit", *, plain: bool) -> None:
    """What an edit changes, and the scores before and after where there is a graded file."""
    from nuggetstream.files.result_tables import result_table

    for change in proposal.changes:
        click.echo(change.words, err=plain)
    if proposal.after is not None:
        show(result_table(proposal.after.scores.table()), plain=plain)
    for note in proposal.notes:
        click.echo(f"note: {note}", err=plain)
