"""Help with the options of a command in sections."""

from collections.abc import Mapping
from typing import Any

import click


class Sectioned(click.Command):
    """A command whose help lists its options in sections.

    Args:
        arguments: As for `click.Command`.
        sections: Title of each section by the name of its first option, in the order of the options.
            Options before the first section are under "Options", with `--help`.
        attributes: As for `click.Command`.

    Raises:
        ValueError: A section begins with an option that does not exist.
    """

    def __init__(self, *arguments: Any, sections: Mapping[str, str], **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        if unknown := set(sections) - {parameter.name for parameter in self.params}:
            raise ValueError(f"sections begin with options that do not exist: {sorted(unknown)}")
        self._sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list of options per section."""
        title = "Options"
        rows: dict[str, list[tuple[str, str]]] = {title: []}
        for parameter in self.params:
            title = self._sections.get(str(parameter.name), title)
            if record := isinstance(parameter, click.Option) and parameter.get_help_record(ctx):
                rows.setdefault(title, []).append(record)
        if help_option := self.get_help_option(ctx):
            rows["Options"] += filter(None, [help_option.get_help_record(ctx)])
        for heading, options in rows.items():
            with formatter.section(heading):
                formatter.write_dl(options)
