"""The `nuggetstream` command and the list of its subcommands."""

import importlib
import os
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand.

    Attributes:
        file: Name of its module in `services.cli.commands`.
        summary: Its line in the list of commands.
        extra: The extra of the package that it needs; None where the package alone is enough.
    """

    file: str
    summary: str
    extra: str | None = None

    @property
    def module(self) -> str:
        """Its module."""
        return f"services.cli.commands.{self.file}"


COMMANDS = {
    "up": Command("up", "Run the whole platform in one process.", "light"),
    "serve": Command("serve", "Run one service of the platform."),
    "eval": Command("evaluate", "Evaluate all battles of a file.", "light"),
    "import": Command("import_file", "Read battles in the formats of other projects.", "client"),
    "export": Command("export_file", "Write results in the formats of other projects.", "client"),
    "report": Command("report", "Write a report of results as one page that works offline.", "analysis"),
    "rate": Command("rate", "Rate systems from files of votes."),
    "rubric": Command("rubric", "Score passages by the questions they answer.", "analysis"),
    "crowd": Command("crowd", "Measure agreement and competence from workers' labels.", "analysis"),
    "text": Command("text", "Length, readability, citations and markup of texts.", "analysis"),
    "fidelity": Command("fidelity", "Compute reference numbers of five papers again.", "analysis"),
    "demo": Command("demo", "Run the demo's battles through the platform, explain one.", "light"),
    "failures": Command("failures", "List, retry or discard what was given up.", "client"),
    "keys": Command("keys", "Create, list, rotate or revoke API keys."),
    "webhooks": Command("webhooks", "Send events of battles to other programs.", "client"),
    "audit": Command("audit", "List who did what, by key.", "client"),
    "calls": Command("calls", "List the model calls of a battle.", "client"),
    "canary": Command("canary", "Let the judges compare canary battles now.", "light"),
    "nuggets": Command("nuggets", "Show or edit the nugget list of a battle.", "client"),
    "delete": Command("delete", "Delete battles, with everything that only they brought.", "client"),
    "retention": Command("retention", "Delete battles that are older than an age.", "client"),
    "bootstrap": Command("bootstrap", "Create all streams and consumers at the broker."),
    "migrate": Command("migrate", "Create or update the tables of the database."),
    "recount": Command("recount", "Compare counters with the rows they count; correct them."),
    "archive": Command("archive", "List or verify an archive of pages."),
    "reindex": Command("reindex", "Move the corpus to another index or embedding model."),
    "doctor": Command("doctor", "Check installation, configuration and connections."),
    "health": Command("health", "Check whether a running service is ready."),
    "offline-model": Command("offline_model", "Serve the offline model over HTTP.", "judge"),
}


# Threads of linear algebra. Several only wait for each other on matrices as small as those of ratings, in
# every worker thread of every process.
_LINEAR_ALGEBRA = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def _imported(command: Command) -> ModuleType:
    """The module of a command.

    Raises:
        click.ClickException: A package is not installed; the message names the extra that brings it.
    """
    try:
        return importlib.import_module(command.module)
    except ModuleNotFoundError as error:
        if command.extra is None:
            raise
        told = f"{error.name} is not installed: pip install '.[{command.extra}]' in a checkout"
        raise click.ClickException(told) from error


class _Lazy(click.Group):
    """Imports a subcommand only when it is called, so that `--help` is quick and light installations work."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        for variable in _LINEAR_ALGEBRA:  # before the library is loaded, which reads them once
            os.environ.setdefault(variable, "1")
        command: Any = _imported(COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)  # noqa: S101 - our own table
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nuggetstream")
def main() -> None:
    """Explain battles between LLM answers, and rate the systems.

    Settings are environment variables, NUGGETSTREAM_..., listed in docs/operations/settings.md. Without
    OPENAI_API_KEY and NUGGETSTREAM_LLM_BASE_URL the built-in offline model is used.
    """


if __name__ == "__main__":
    main()
