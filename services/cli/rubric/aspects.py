"""The command `aspects`: scores from aspects of answers against what people accept."""

from pathlib import Path

import click

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.records import read_records
from services.cli.commands.showing import BadInput, needing_extras, plain_option, refusing, show
from services.cli.rubric.options import FILE


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
@click.option("--answers", type=FILE, help="Also length, and the column perplexity, of answers in this file.")
@click.option("--references", type=FILE, help="Also ROUGE-L of the answers with the texts in this file.")
@plain_option
@needing_extras
def aspects_command(
    judge: Path, people: Path, seed: int, *, answers: Path | None, references: Path | None, plain: bool
) -> None:
    """Correlate scores from aspects rated by JUDGE with what PEOPLE accept.

    The scores are W-LLM, equal weights, weights fitted to people, and a decision tree. Both files are CSV
    with a header or JSONL, with answer_id, factuality (0 to 3), amountInfo and formality (-1 to 1, 0 is
    right); JUDGE also has overall and one row per answer; PEOPLE has acceptability and one row per rater.

    The file of --answers has answer_id and answer, and with --references also question_id, as that file
    has beside reference or text.
    """
    from nuggetstream.aspects.baselines import baselines_of
    from nuggetstream.aspects.reading import read_human_means, read_model_ratings
    from nuggetstream.aspects.study import NoAnswerInCommon, follow
    from nuggetstream.aspects.terminal import aspect_tables

    if references is not None and answers is None:
        raise click.UsageError("--references goes with --answers")
    with refusing(UnusableFile):
        ratings, means = read_model_ratings(judge), read_human_means(people)
        texts, brought = (() if file is None else read_records(file) for file in (answers, references))
        others = baselines_of(texts, brought) if answers else None
    try:
        scores = follow(ratings, means, seed, others)
    except NoAnswerInCommon as error:
        raise BadInput(f"{judge}: no answer here is in {people} under the same answer_id") from error
    show(aspect_tables(scores), plain=plain)
