"""`nuggetstream crowd`: agreement, gold labels, competence of workers, grades, and grades by group."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nuggetstream.domain.worker_label import shortest_form
from nuggetstream.files.opening import UnusableFile
from services.cli.commands.files.crowd_options import (
    COLUMN_OPTIONS,
    COMPETENCE_OPTIONS,
    GRADE_OPTIONS,
    LABEL_OPTIONS,
)
from services.cli.commands.reading_options import where_of
from services.cli.commands.sections import Sectioned
from services.cli.commands.showing import (
    NEW_FOLDER,
    needing_extras,
    plain_option,
    refusing,
    show,
    show_written,
    with_options,
)
from services.cli.wiring.names import names_of

if TYPE_CHECKING:
    from nuggetstream.crowd.study import CrowdOptions

_DEFAULT = "agreement"


class _WithDefault(click.Group):
    """A group whose first argument may be a file instead of a subcommand: then the default one runs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        accepted = (*self.commands, *self.get_help_option_names(ctx))
        misspelt = args and not Path(args[0]).exists() and get_close_matches(args[0], self.commands)
        if args and args[0] not in accepted and not misspelt:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


_limit_option = click.option(
    "--limit", type=click.IntRange(1), default=10, show_default=True, help="Maximum number of rows per table."
)


@click.group("crowd", cls=_WithDefault)
def command() -> None:
    """Agreement, gold labels and competence of workers; grades from pairwise labels, and by group.

    `nuggetstream crowd FILE` is short for `nuggetstream crowd agreement FILE`.
    """


@command.command(
    _DEFAULT,
    cls=Sectioned,
    short_help="Agreement, gold labels and competence from VOTES.",
    sections={"item": "Columns and labels", "spam_limit": "Competence and gold labels", "limit": "Output"},
)
@click.argument("votes", type=click.Path(path_type=Path, dir_okay=False))
@with_options(LABEL_OPTIONS)
@with_options(COMPETENCE_OPTIONS)
@_limit_option
@click.option(
    "--out",
    type=NEW_FOLDER,
    help="Folder for crowd.json, gold.csv, workers.csv.",
)
@plain_option
@needing_extras
def agreement(votes: Path, out: Path | None, limit: int, plain: bool, **given: Any) -> None:
    """Agreement, gold labels and competence from VOTES, the labels that workers gave to items.

    A file is CSV with a header or JSONL, compressed or not. A row is one label with its `item`, `worker` and
    `label`, and perhaps its `dimension`; or one item with a list of workers and a list NAME_vote per
    dimension; or one item with a column of labels per worker. Labels a, n (or tie) and b choose between two
    answers.

    Exits 2 when a file cannot be used, naming file, line and field.
    """
    from nuggetstream.crowd.scale import UnusableLabels
    from nuggetstream.crowd.study import study_labels
    from nuggetstream.crowd.terminal import crowd_tables
    from nuggetstream.crowd.writing import write_crowd
    from nuggetstream.files.worker_labels import LabelColumns, read_worker_labels

    if given["dimension"] and len(given["label"]) > 1:
        raise click.UsageError("--dimension goes with one --label; several are one dimension each")
    columns = LabelColumns(
        items=given["item"],
        worker=given["worker"],
        labels=given["label"],
        dimension=given["dimension"],
        spam=given["spam"],
        sides=given["sides"],
        position=given["position"],
        where=where_of(given["where"]),
        missing=frozenset(given["missing"]),
        known=frozenset(label for labels in _labels(given["labels"]).values() for label in labels),
    )
    with refusing(UnusableFile, UnusableLabels):
        options = _crowd_options(given)
        file = read_worker_labels(votes, columns)
        study = study_labels(file.dimensions, options, unlabelled=file.unlabelled, remarks=file.remarks)
        written = write_crowd(study, out, file=file.path, rows=file.rows) if out else []
    show(crowd_tables(study, limit, file=file.path, rows=file.rows), plain=plain)
    show_written(written, plain=plain)


@command.command("grades", short_help="Merits and grades of the items of every topic.")
@click.argument("labels", type=click.Path(path_type=Path, dir_okay=False))
@with_options(GRADE_OPTIONS)
@_limit_option
@click.option("--out", type=NEW_FOLDER, help="Folder for grades.json, grades.csv.")
@plain_option
@needing_extras
def grades(labels: Path, out: Path | None, limit: int, plain: bool, **given: Any) -> None:
    """Merits and grades of the items of every topic, from LABELS that compare two items.

    A file is CSV with a header or JSONL, compressed or not. A row compares two items of one topic: its label
    is a (the first is better), b (the second) or n or tie (neither). The file gold.csv of `nuggetstream
    crowd --out` is one, and so are the ratings of CrowdRAG-25 with their columns NAME_gold.

    Exits 2 when a file cannot be used, naming file, line and field.
    """
    from nuggetstream.crowd.terminal import grade_tables
    from nuggetstream.crowd.topic_grades import grade_topics
    from nuggetstream.crowd.writing import write_grades
    from nuggetstream.files.pair_labels import PairColumns, read_pair_labels

    if given["dimension"] and len(given["label"]) > 1:
        raise click.UsageError("--dimension goes with one --label; several are one dimension each")
    columns = PairColumns(
        topic=given["topic"],
        sides=given["sides"],
        labels=given["label"],
        dimension=given["dimension"],
        where=where_of(given["where"]),
        missing=frozenset(given["missing"]),
    )
    with refusing(UnusableFile):
        file = read_pair_labels(labels, columns)
        graded = grade_topics(
            file.labels,
            regularisation=given["regularisation"],
            tie=given["tie"],
            unlabelled=file.unlabelled,
            remarks=file.remarks,
        )
        written = write_grades(graded, out, file=file.path, rows=file.rows) if out else []
    show(grade_tables(graded, limit, file=file.path, rows=file.rows), plain=plain)
    show_written(written, plain=plain)


@command.command("compare", short_help="Grades by group, tested, and how far dimensions agree.")
@click.argument("grades", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--by", required=True, metavar="COLUMN", help="Column of the group of an item.")
@click.option("--within", metavar="COLUMN", help="Column whose values are compared apart from each other.")
@click.option(
    "--items",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File with a row per item that has these columns; by default GRADES has them.",
)
@click.option("--text", metavar="COLUMN", help="Column of texts, to compare with the best of the topic.")
@plain_option
@needing_extras
def compare(
    grades: Path, by: str, within: str | None, items: Path | None, text: str | None, *, plain: bool
) -> None:
    """Compare the grades of groups of items, such as answers by people and by a model.

    GRADES is a file like grades.csv of `nuggetstream crowd grades --out`: a row per item with its `item`,
    `grade`, and perhaps `topic` and `dimension`. Groups are tested in pairs, by topic, and dimensions are
    correlated within topics. With --text, BLEU and ROUGE-L with the best text of a topic are correlated with
    the grades of its other texts.

    Exits 2 when a file cannot be used, naming file, line and field.
    """
    from nuggetstream.crowd.contrasts import compare_groups, grouped_grades
    from nuggetstream.files.cells import group
    from nuggetstream.files.records import read_records
    from nuggetstream.files.result_tables import result_table

    with refusing(UnusableFile):
        rows = read_records(items) if items else ()
        comparison = compare_groups(*grouped_grades(read_records(grades), by, within, rows, text))
    tables = (
        comparison.means_table(),
        comparison.table(),
        comparison.dimensions_table(),
        comparison.references_table(),
    )
    show(group(*(part for table in tables if table.rows for part in (result_table(table), ""))), plain=plain)


@command.command("arms", short_help="People, experts, judges and ratings in one table of agreement.")
@click.argument("arms", nargs=-1, required=True, metavar="NAME=FILE...")
@click.option(
    "--gold", type=click.Path(path_type=Path, dir_okay=False), help="Gold labels, such as gold.csv of --out."
)
@click.option("--by", metavar="COLUMN", help="Column each of whose values is an arm of its own.")
@with_options(COLUMN_OPTIONS)
@plain_option
@needing_extras
def compare_arms(
    arms: tuple[str, ...], gold: Path | None, by: str | None, *, plain: bool, **given: Any
) -> None:
    """How far each arm of a study agrees with itself, with gold labels, and with the other arms.

    An arm is a file of labels as `nuggetstream crowd` reads it: votes of people, answers of experts, ratings
    of single answers, or what a judge said, as `nuggetstream export --to verdicts` writes it. A file without
    a column of workers is by one. A column that an option names counts in the files that have it.

    Exits 2 when a file cannot be used, naming file, line and field.
    """
    from nuggetstream.crowd import arms as library
    from nuggetstream.files.arm_labels import arms_of
    from nuggetstream.files.cells import group
    from nuggetstream.files.records import read_records
    from nuggetstream.files.result_tables import result_table
    from nuggetstream.files.worker_labels import LabelColumns

    named = [(name or Path(file).stem, Path(file)) for name, _, file in (arm.rpartition("=") for arm in arms)]
    files = dict(named)
    if len(files) < len(named):
        raise click.UsageError("two arms have one name; give each its own, as in people=votes.csv")
    columns = LabelColumns(
        items=given["item"],
        worker=given["worker"],
        labels=given["label"],
        dimension=given["dimension"],
        sides=given["sides"],
        where=where_of(given["where"]),
        missing=frozenset(given["missing"]),
    )
    with refusing(UnusableFile):
        sources = {name: (path, read_records(path)) for name, path in files.items()}
        golden = (gold, read_records(gold)) if gold else None
        remarks: list[str] = []
        comparison = library.compare_arms(*arms_of(sources, golden, columns, by, remarks), remarks)
    tables = [table for table in (comparison.table(), comparison.across_table()) if table.rows]
    show(group(*(part for table in tables for part in (result_table(table), ""))), plain=plain)


def _crowd_options(given: dict[str, Any]) -> "CrowdOptions":
    from nuggetstream.crowd.learning import CompetenceOptions
    from nuggetstream.crowd.scale import ScaleOptions
    from nuggetstream.crowd.study import CrowdOptions
    from nuggetstream.statistics.krippendorff import Level

    return CrowdOptions(
        scale=ScaleOptions(_labels(given["labels"]), Level(given["level"]) if given["level"] else None),
        competence=CompetenceOptions(
            limit=given["spam_limit"],
            restarts=given["restarts"],
            iterations=given["iterations"],
            seed=given["seed"],
        ),
        needed=given["needed"],
        decided=given["decided"],
    )


def _labels(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Dimension -> its labels; under "" those of every other dimension."""
    labels: dict[str, tuple[str, ...]] = {}
    for text in texts:
        dimension, _, listed = text.rpartition("=")
        if dimension in labels:
            raise click.UsageError(f"--labels: {dimension or 'all dimensions'} twice")
        labels[dimension] = tuple(map(shortest_form, names_of(listed)))
    return labels
