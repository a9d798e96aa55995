"""Commands that read rankings, labels and leaderboards: `measure` and `correlate`."""

from pathlib import Path
from typing import Any

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
from services.cli.rubric.options import CORRELATE_OPTIONS, FILE, MEASURE_OPTIONS


@click.command("measure", short_help="Score the rankings of runs by labels.")
@with_options(MEASURE_OPTIONS)
@plain_option
@needing_extras
def measure_command(qrels: Path, out: Path | None, *, fuse: bool, plain: bool, **given: Any) -> None:
    """Score the rankings of runs by relevance labels, with standard errors.

    Means are over all queries with labels, as those of trec_eval -c: a query with labels that a run does not
    rank counts 0, and a query without labels is left out. The table shows how many there are of both.
    """
    from nuggetstream.files.result_tables import result_table
    from nuggetstream.rubric.leaderboards import read_labels
    from nuggetstream.rubric.measuring import NoQueryInCommon, measure_runs
    from nuggetstream.rubric.run_files import read_rankings
    from nuggetstream.rubric.scoring import NoMeasure
    from nuggetstream.rubric.writing import write_runs

    if fuse and len(given["runs"]) < 2:
        raise click.UsageError("--fuse needs two runs or more")
    with refusing(UnusableFile, NoMeasure, NoQueryInCommon):
        rankings = read_rankings(given["runs"])
        measured = measure_runs(read_labels(qrels), rankings, given["measures"], fuse=fuse)
        written = write_runs(measured, out) if out else []
    show(result_table(measured.table()), plain=plain)
    show_written(written, plain=plain)


@click.command("correlate", short_help="Correlate two orders of the same systems.")
@click.argument("leaderboard", type=FILE)
@click.argument("official", type=FILE)
@with_options(CORRELATE_OPTIONS)
@plain_option
@needing_extras
def correlate_command(
    leaderboard: Path, official: Path, out: Path | None, *, plain: bool, **given: Any
) -> None:
    """Correlate the order of systems in LEADERBOARD with OFFICIAL: Spearman's rho, Kendall's tau-b.

    Each is a leaderboard (CSV with a header, or JSONL) or a qrels file; qrels score the rankings of --runs
    or --graded.
    """
    from nuggetstream.files.result_tables import result_table
    from nuggetstream.rubric.correlating import NothingToRank, compare
    from nuggetstream.rubric.grading import UnknownSystem
    from nuggetstream.rubric.leaderboard_correlation import NoCommonOrder
    from nuggetstream.rubric.leaderboards import Column, read_side
    from nuggetstream.rubric.run_files import read_rankings
    from nuggetstream.rubric.scoring import NoMeasure, UnusedOption
    from nuggetstream.rubric.writing import write_comparison

    with refusing(UnusableFile, NothingToRank, NoCommonOrder, NoMeasure, UnknownSystem, UnusedOption):
        comparison = compare(
            read_side(leaderboard, Column(given["system"], given["score"], given["rank"])),
            read_side(
                official,
                Column(given["official_system"], given["official_score"], given["official_rank"]),
                prefix="official-",
            ),
            read_rankings(given["runs"], given["graded"]),
            measure=given["measure"],
            left_out=given["without"],
            break_ties=given["break_ties"],
        )
        written = write_comparison(comparison, out) if out else []
    show(result_table(comparison.table()), plain=plain)
    show_written(written, plain=plain)
