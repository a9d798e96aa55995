"""`nuggetstream compare FIRST SECOND`: two evaluations of the same battles."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import read_results
from services.cli.results import RESULTS
from services.cli.showing import needing_extras, plain_option, refusing, show, show_written

_GROUPS = ("arena", "language", "tag")


@click.command("compare")
@click.argument("first", type=click.Path(path_type=Path, exists=True))
@click.argument("second", type=click.Path(path_type=Path, exists=True))
@click.option("--by", type=click.Choice(_GROUPS), help="Also the share of equal preferences in each group.")
@click.option(
    "--examples", type=click.IntRange(0), default=5, show_default=True,
    help="Battles with opposite preferences to list for each predictor.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write all numbers to this file, as JSON."
)
@plain_option
@needing_extras
def command(
    *, first: Path, second: Path, by: str | None, examples: int, out: Path | None, plain: bool
) -> None:
    """Compare two evaluations of the same battles, such as those of two models, prompts or profiles.

    FIRST and SECOND are folders of `nuggetstream eval`, or files like its results.jsonl. For the preference
    of nuggets and each judge it shows how often both are equal, kappa, how often one prefers A and the other
    B, and how often each agrees with people on the same battles, with the difference and its interval.
    """
    from nuggetstream.report.compared import comparison_tables
    from nuggetstream.report.comparing import DifferentAnswers, compare

    with refusing(UnusableFile, DifferentAnswers):
        ours, theirs = (read_results(path / RESULTS if path.is_dir() else path) for path in (first, second))
        compared = compare(ours, theirs, by)
    show(comparison_tables(compared, {battle.id: battle for battle in ours.battles}, examples), plain=plain)
    if out is not None:
        out.write_text(json.dumps(asdict(compared), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        show_written([out], plain=plain)
