"""The longer lists of options of `nuggetstream rubric`: what to verify, and what to correlate."""

from pathlib import Path

import click

from nuggetstream.rubric.verification import HIGH_GRADE, NOT_RELEVANT, RELEVANT

_FILE = click.Path(path_type=Path, dir_okay=False)
_GRADE = click.IntRange(min=1, max=5)

VERIFY_OPTIONS = (
    click.option(
        "--spurious",
        "sections",
        flag_value="spurious",
        multiple=True,
        help="Only the sections named: these items.",
    ),
    click.option("--uncovered", "sections", flag_value="uncovered", multiple=True, help="These passages."),
    click.option(
        "--grid",
        "sections",
        flag_value="grid",
        multiple=True,
        help="Tables of passages and items, with every grade.",
    ),
    click.option(
        "--listing",
        "sections",
        flag_value="listing",
        multiple=True,
        help="Every graded answer, item by item.",
    ),
    click.option(
        "--min-grade",
        type=_GRADE,
        default=HIGH_GRADE,
        show_default=True,
        help="From which an answer is good.",
    ),
    click.option(
        "--relevant", type=int, default=RELEVANT, show_default=True, help="Lowest judgment meaning so."
    ),
    click.option(
        "--not-relevant",
        type=int,
        default=NOT_RELEVANT,
        show_default=True,
        help="Highest judgment meaning so.",
    ),
    click.option("--query", metavar="ID", help="Only this query."),
    click.option("--bank", type=_FILE, help="Bank of questions or nuggets: shows their texts."),
    click.option(
        "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Rows shown per query."
    ),
)

CORRELATE_OPTIONS = (
    click.option("--runs", multiple=True, type=_FILE, help="A run file of TREC; once per system."),
    click.option(
        "--graded", type=_FILE, help="Rankings as a graded file recorded them, instead of run files."
    ),
    click.option(
        "--measure", metavar="NAME", help="Of rankings, by its name in ir_measures; nDCG@10 by default."
    ),
    click.option("--without", multiple=True, metavar="SYSTEM", help="Leave this one out of both sides."),
    click.option(
        "--break-ties", is_flag=True, help="Official places without ties, as trec_eval prints them."
    ),
    click.option("--system", metavar="COLUMN", help="Of the names, in LEADERBOARD."),
    click.option("--score", metavar="COLUMN", help="Of the scores in LEADERBOARD, higher is better."),
    click.option("--place", metavar="COLUMN", help="Of the places in LEADERBOARD, 1 is best."),
    click.option("--official-system", metavar="COLUMN", help="The same of OFFICIAL."),
    click.option("--official-score", metavar="COLUMN", help="The same of OFFICIAL."),
    click.option("--official-place", metavar="COLUMN", help="The same of OFFICIAL."),
)
