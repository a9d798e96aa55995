"""The command `aspects`: scores from aspects of answers against what people accept."""

from pathlib import Path

import click

from nuggetstream.files.opening import UnusableFile
from services.cli.rubric.options import FILE
from services.cli.showing import BadInput, needing_extras, plain_option, refusing, show


@click.command("aspects", short_help="Correlate scores from aspects with people.")
@click.argument("judge", type=FILE)
@click.argument("people", type=FILE)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=20250504,
    show_default=True,
    help="Seed of the folds that cross-validate the tree.",
)
@plain_option
@needing_extras
def aspects_command(judge: Path, people: Path, seed: int, *, plain: bool) -> None:
    """Correlate scores from aspects rated by JUDGE with what PEOPLE accept.

    The scores are W-LLM, equal weights, weights fitted to people, and a decision tree. Both files are CSV
    with a header or JSONL, with answer_id, factuality (0 to 3), amountInfo and formality (-1 to 1, 0 is
    right); JUDGE also has overall and one row per answer; PEOPLE has acceptability and one row per rater.
    """
    from nuggetstream.aspects.reading import read_human_means, read_model_ratings
    from nuggetstream.aspects.study import NoAnswerInCommon, follow
    from nuggetstream.aspects.terminal import aspect_tables

    with refusing(UnusableFile):
        ratings, means = read_model_ratings(judge), read_human_means(people)
    try:
        scores = follow(ratings, means, seed)
    except NoAnswerInCommon as error:
        raise BadInput(f"{judge}: no answer here is in {people} under the same answer_id") from error
    show(aspect_tables(scores), plain=plain)
