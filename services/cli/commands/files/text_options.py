"""The options of `nuggetstream text`: how files are read, and what is measured."""

import click

from nuggetstream.text.readability import READABLE_LANGUAGES
from services.cli.commands.showing import NEW_FOLDER

NO_LANGUAGE = "none"

TEXT_OPTIONS = (
    click.option(
        "--text",
        "text_columns",
        multiple=True,
        metavar="COLUMN",
        help="Column of the text; give it several times for several texts per row. a.text is the field text "
        "of the object a.",
    ),
    click.option(
        "--id",
        "id_columns",
        multiple=True,
        metavar="COLUMN",
        help="Column that names the text; a text whose name returns is measured once.",
    ),
    click.option(
        "--group",
        "group_columns",
        multiple=True,
        metavar="COLUMN",
        help="Column of the group, such as the system.",
    ),
    click.option(
        "--sources",
        multiple=True,
        metavar="N|COLUMN",
        help="Number of sources that a text can cite, or a column with that number or with a list of them. "
        "Citations of other numbers are invalid.",
    ),
    click.option(
        "--first-source",
        type=click.Choice(["0", "1"]),
        help="Number of the first source; by default 0 in texts that cite source 0, else 1.",
    ),
    click.option(
        "--language",
        type=click.Choice([*READABLE_LANGUAGES, NO_LANGUAGE]),
        default="en",
        show_default=True,
        help="Language of the reading ease; none leaves it out.",
    ),
    click.option(
        "--limit",
        type=click.IntRange(1),
        default=10,
        show_default=True,
        help="Maximum number of texts shown.",
    ),
    click.option(
        "--out",
        type=NEW_FOLDER,
        help="Folder for text.json, texts.csv, groups.csv.",
    ),
)
