"""`nuggetstream compare`: evaluations of the same battles, beside each other and beside people."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Group

from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import Results, read_results
from services.cli.commands.showing import needing_extras, plain_option, refusing, show, show_written
from services.cli.evaluation.results import RESULTS

if TYPE_CHECKING:
    from nuggetstream.report.evaluator_tables import EvaluatorStudy

_GROUPS = ("arena", "category", "language", "tag")
PEOPLE = "votes"
_MOST = 40  # rows of a table that are printed


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, metavar="EVALUATION... [votes]")
@click.option("--by", type=click.Choice(_GROUPS), help="Also agreement in each group of battles.")
@click.option(
    "--examples", type=click.IntRange(0), default=5, show_default=True,
    help="Battles with opposite preferences to list for each evaluator.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write all numbers to this file, as JSON."
)
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False),
    help="With `votes` or three evaluations: write accuracy against cost to this file, a page of HTML.",
)  # fmt: skip
@plain_option
@needing_extras
def command(
    *, sides: tuple[str, ...], by: str | None, examples: int, out: Path | None, plot: Path | None, plain: bool
) -> None:
    """Compare evaluations of the same battles, such as those of other models, prompts or profiles.

    An EVALUATION is a folder of `nuggetstream eval`, or a file like its results.jsonl, which
    `nuggetstream import --to results` makes of nuggetizer's assignments. Two of them are compared battle by
    battle: how often the nuggets and each judge prefer the same answer, kappa, and how often each agrees
    with people, with the difference and its interval.

    With `votes`, or three evaluations or more, every evaluator is set beside people: agreement and kappa
    with intervals, inversions, cost, calibration, biases, and panels and cascades on held-out queries.
    """
    paths = [Path(side) for side in sides if side != PEOPLE]
    if len(paths) == 2 and PEOPLE not in sides:
        if plot is not None:
            raise click.UsageError("--plot goes with `votes`, or with three evaluations or more")
        _compare_two(paths, by, examples, out, plain=plain)
        return
    if len(paths) < 2 and (PEOPLE not in sides or not paths):
        raise click.UsageError("name two evaluations, or one and `votes`")
    _beside_people(paths, by, examples, out, plot, plain=plain)


def _compare_two(
    paths: Sequence[Path], by: str | None, examples: int, out: Path | None, *, plain: bool
) -> None:
    from nuggetstream.report.compared import comparison_tables
    from nuggetstream.report.comparing import DifferentAnswers, compare

    with refusing(UnusableFile, DifferentAnswers):
        ours, theirs = map(_read, paths)
        compared = compare(ours, theirs, by)
    show(comparison_tables(compared, {battle.id: battle for battle in ours.battles}, examples), plain=plain)
    _write(asdict(compared), out, plain=plain)


def _beside_people(
    paths: Sequence[Path], by: str | None, examples: int, out: Path | None, plot: Path | None, *, plain: bool
) -> None:
    from nuggetstream.figures.drawn import NothingToDraw
    from nuggetstream.report.comparing import DifferentAnswers
    from nuggetstream.report.evaluator_study import study_evaluators
    from nuggetstream.report.evaluator_votes import evaluation_names

    with refusing(UnusableFile, DifferentAnswers, NothingToDraw):
        results = [_read(path) for path in paths]
        study = study_evaluators(dict(zip(evaluation_names(paths), results, strict=True)), by)
        page = None if plot is None else study.costs_table().plot().to_html()
    show(_tables(study, examples, plain=plain), plain=plain)
    if plot is not None and page is not None:
        plot.write_text(page, encoding="utf-8")
        show_written([plot], plain=plain)
    _write(study.numbers(), out, plain=plain)


def _tables(study: "EvaluatorStudy", examples: int, *, plain: bool) -> Group:
    """Every table of a study that has a row."""
    from nuggetstream.files.result_tables import result_table

    tables = (
        study.table(),
        study.confusion_table(),
        study.decided_table(),
        study.inversions_table(examples),
        study.pairs_table(),
        study.labels_table(),
        study.costs_table(),
        study.calibration_table(),
        study.bins_table(),
        study.biases_table(),
        study.combinations_table(),
    )
    most = None if plain else _MOST
    shown = [part for table in tables if table.rows for part in ("", result_table(table, most))]
    return Group(many(len(study.battles), "battle"), *shown)


def _read(path: Path) -> Results:
    return read_results(path / RESULTS if path.is_dir() else path)


def _write(numbers: dict[str, Any], out: Path | None, *, plain: bool) -> None:
    if out is not None:
        out.write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        show_written([out], plain=plain)
