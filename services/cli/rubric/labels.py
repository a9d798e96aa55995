"""The command `kappa`: one overall kappa of two files of labels."""

from pathlib import Path

import click

from nuggetstream.files.opening import UnusableFile
from services.cli.commands.showing import (
    needing_extras,
    plain_option,
    refusing,
    show,
    show_written,
    with_options,
)
from services.cli.rubric.options import FILE, KAPPA_OPTIONS


@click.command("kappa", short_help="Compute one kappa of two files of labels.")
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@with_options(KAPPA_OPTIONS)
@plain_option
@needing_extras
def kappa_command(
    first: Path,
    second: Path,
    items: tuple[str, ...],
    *,
    label: str | None,
    order: str | None,
    missing: tuple[str, ...],
    out: Path | None,
    plain: bool,
) -> None:
    """Compute one Cohen's kappa of two files of labels: unweighted, linear and quadratic.

    Each file is qrels, or CSV with a header or JSONL with a column of items (`item`, `answer_id`,
    `battle_id`, …) and a column of labels (`label`, `gold`, `vote`, …). Labels that are numbers lie on their
    own scale; --labels gives others an order. Items with a label in one file only are counted and left out.
    """
    from nuggetstream.files.cells import group
    from nuggetstream.files.result_tables import result_table
    from nuggetstream.rubric.label_agreement import NothingLabelledTwice, UnknownLabel, label_agreement
    from nuggetstream.rubric.label_files import read_label_set
    from nuggetstream.rubric.scoring import UnusedOption
    from nuggetstream.rubric.writing import write_kappa

    labels = [name.strip() for name in order.split(",")] if order else []
    with refusing(UnusableFile, UnusedOption, NothingLabelledTwice, UnknownLabel):
        one, other = (read_label_set(path, items, label, missing) for path in (first, second))
        agreement = label_agreement(one, other, labels)
        written = write_kappa(agreement, out) if out else []
    show(group(result_table(agreement.table()), "", result_table(agreement.counts_table())), plain=plain)
    show_written(written, plain=plain)
