"""HTML templates: the one Jinja environment behind the report and the web pages of the gateway."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def html_environment(folder: Path) -> Environment:
    """A Jinja environment that escapes every value and stops at a variable that is not defined.

    The lines of block tags leave no blank lines behind. Callers add filters, tests and globals of their own.

    Args:
        folder: Folder of the templates; a template's name is its path in there, with forward slashes.

    Returns:
        An environment that nobody else shares.
    """
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
