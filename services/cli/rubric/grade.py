"""The command `grade`: passages of runs graded by a model."""

from pathlib import Path
from typing import Any

import click

from nuggetstream.files.opening import UnusableFile
from services.cli.commands.showing import needing_extras, refusing, with_options
from services.cli.rubric.grade_options import GRADE_OPTIONS
from services.cli.rubric.options import FILE

_MAKE = "make"


@click.command("grade", short_help="Grade passages of runs on questions, by a model.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=FILE)
@with_options(GRADE_OPTIONS)
@needing_extras
def grade_command(runs: tuple[Path, ...], bank: str | None, out: Path | None, **given: Any) -> None:
    """Grade the passages of runs from 0 to 5 on the questions, or nuggets, of their query.

    RUN is a run file as TREC has it, of passages or of answers; a passage of several runs is graded once. The
    model is asked as the evaluator `rubric` asks about live battles. Its settings are NUGGETSTREAM_LLM_...;
    without an endpoint the offline model answers.

    Writes OUT/graded.jsonl, which the other commands read, OUT/bank.jsonl with questions that were made, and
    OUT/ungraded.jsonl with the reason of every passage that has no grades. Ctrl-C stops it. The same command
    continues where it stopped, with more runs or a larger depth as well, pays for no reply twice, and asks
    again for passages that failed.

    --verify writes a second set of grades, rubric-verified: a grade is 0 where the model says that what it
    found does not answer the question. Questions of the bank with `gold_answers` are in a set rubric-key: a
    grade is 0 where what was found states none of them. --direct writes a set per style. Choose with
    --prompt-class.
    """
    if out is None and not given["dry_run"]:
        raise click.UsageError("Missing option '--out'.")
    if (bank is None) is not given["direct"]:
        raise click.UsageError("name the questions with --bank FILE or --bank make, or else use --direct")
    if given["direct"] and (given["verify"] or given["per_question"]):
        raise click.UsageError("--verify and --each are about questions, and --direct asks none")
    if bank in (None, _MAKE) and given["queries"] is None:
        raise click.UsageError("name the file of queries with --queries: no bank has them")
    from services.cli.rubric.passages import read_passages

    with refusing(UnusableFile):
        passages = read_passages(
            runs,
            given.pop("documents"),
            None if bank in (None, _MAKE) else Path(bank),
            queries=given.pop("queries"),
            qrels=given.pop("qrels"),
            depth=given.pop("depth"),
        )
    try:
        from services.cli.rubric.graded_run import run_grading
    except ModuleNotFoundError as error:
        message = f"{error.name} is not installed: pip install '.[light]' in a checkout"
        raise click.ClickException(message) from error
    run_grading(passages, out, **given)
