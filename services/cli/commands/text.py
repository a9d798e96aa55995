"""`nuggetstream text FILE…`: statistics of plain texts."""

from pathlib import Path
from typing import Any

import click

from nuggetstream.files.dataset import UnusableFile
from nuggetstream.text.readability import READABLE_LANGUAGES
from services.cli.showing import needing_analysis, plain_option, refusing, show

_NO_LANGUAGE = "none"


@click.command("text")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--text",
    "text_columns",
    multiple=True,
    metavar="COLUMN",
    help="Column of the text; give it several times for several texts per row. a.text is the field text of "
    "the object a.",
)
@click.option(
    "--id",
    "id_columns",
    multiple=True,
    metavar="COLUMN",
    help="Column that names the text; a text whose name returns is measured once.",
)
@click.option(
    "--group",
    "group_columns",
    multiple=True,
    metavar="COLUMN",
    help="Column of the group, such as the system.",
)
@click.option(
    "--sources",
    multiple=True,
    metavar="N|COLUMN",
    help="Number of sources that a text can cite, or a column with that number or with a list of them. "
    "Citations of other numbers are invalid.",
)
@click.option(
    "--first-source",
    type=click.Choice(["0", "1"]),
    help="Number of the first source; by default 0 in texts that cite source 0, else 1.",
)
@click.option(
    "--language",
    type=click.Choice([*READABLE_LANGUAGES, _NO_LANGUAGE]),
    default="en",
    show_default=True,
    help="Language of the reading ease; none leaves it out.",
)
@click.option(
    "--limit", type=click.IntRange(1), default=10, show_default=True, help="Maximum number of texts shown."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for text.json, texts.csv, groups.csv.",
)
@plain_option
@needing_analysis
def command(files: tuple[Path, ...], limit: int, out: Path | None, plain: bool, **given: Any) -> None:
    """Length, readability, citations and markup of the texts in FILES, and means per group.

    A file that ends in .txt or .md is one text. Other files are CSV with a header or JSONL, with one text per
    row in the column text, answer, response or output, or two texts in a.text and b.text or in text_a and
    text_b. Files may be gzipped.

    Exits 2 when a file cannot be used, naming file, line and field.
    """
    from nuggetstream.files.texts import TextColumns, read_texts
    from nuggetstream.text_statistics.study import study_texts
    from nuggetstream.text_statistics.terminal import text_tables
    from nuggetstream.text_statistics.writing import write_texts

    sources = given["sources"]
    is_count = len(sources) == 1 and sources[0].isdecimal()
    columns = TextColumns(
        texts=given["text_columns"],
        names=given["id_columns"],
        groups=given["group_columns"],
        sources=() if is_count else sources,
        source_count=int(sources[0]) if is_count else None,
    )
    first, language = given["first_source"], given["language"]
    with refusing(UnusableFile):
        read = read_texts(files, columns)
        study = study_texts(
            read.texts,
            language=None if language == _NO_LANGUAGE else language,
            first=None if first is None else int(first),
        )
        written = write_texts(study, read, out) if out else []
    show(text_tables(study, limit, without_text=read.without_text, repeated=read.repeated), plain=plain)
    for path in written:
        click.echo(f"written: {path}", err=plain)
