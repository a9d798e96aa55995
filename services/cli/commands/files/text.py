"""`nuggetstream text FILE…`: statistics of plain texts."""

from pathlib import Path
from typing import Any

import click

from nuggetstream.files.opening import UnusableFile
from services.cli.commands.files.text_options import NO_LANGUAGE, TEXT_OPTIONS
from services.cli.commands.showing import (
    needing_extras,
    plain_option,
    refusing,
    show,
    show_written,
    with_options,
)


@click.command("text")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@with_options(TEXT_OPTIONS)
@plain_option
@needing_extras
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
            language=None if language == NO_LANGUAGE else language,
            first=None if first is None else int(first),
        )
        written = write_texts(study, read, out) if out else []
    show(text_tables(study, limit, without_text=read.without_text, repeated=read.repeated), plain=plain)
    show_written(written, plain=plain)
