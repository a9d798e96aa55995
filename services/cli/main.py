"""The `nuggetstream` command and the list of its subcommands."""

import importlib
import os
from typing import Any

import click

# Name of each command -> its module and its summary in the list of commands.
COMMANDS = {
    "up": ("up", "Run the whole platform in one process."),
    "serve": ("serve", "Run one service of the platform."),
    "eval": ("evaluate", "Evaluate all battles of a file."),
    "import": ("import_file", "Read battles in the formats of other projects."),
    "export": ("export_file", "Write results in the formats of other projects."),
    "report": ("report", "Write a report of results as one page that works offline."),
    "rate": ("rate", "Rate systems from files of votes."),
    "rubric": ("rubric", "Score passages by the questions they answer."),
    "crowd": ("crowd", "Measure agreement and competence from workers' labels."),
    "text": ("text", "Length, readability, citations and markup of texts."),
    "fidelity": ("fidelity", "Compute reference numbers of five papers again."),
    "demo": ("demo", "Run the demo's battles through the platform, explain one."),
    "failures": ("failures", "List, retry or discard what was given up."),
    "keys": ("keys", "Create, list, rotate or revoke API keys."),
    "webhooks": ("webhooks", "Send events of battles to other programs."),
    "audit": ("audit", "List who did what, by key."),
    "calls": ("calls", "List the model calls of a battle."),
    "canary": ("canary", "Let the judges compare canary battles now."),
    "nuggets": ("nuggets", "Show or edit the nugget list of a battle."),
    "delete": ("delete", "Delete battles, with everything that only they brought."),
    "retention": ("retention", "Delete battles that are older than an age."),
    "bootstrap": ("bootstrap", "Create all streams and consumers at the broker."),
    "migrate": ("migrate", "Create or update the tables of the database."),
    "recount": ("recount", "Compare counters with the rows they count; correct them."),
    "archive": ("archive", "List or verify an archive of pages."),
    "reindex": ("reindex", "Move the corpus to another index or embedding model."),
    "doctor": ("doctor", "Check installation, configuration and connections."),
    "health": ("health", "Check whether a running service is ready."),
    "offline-model": ("offline_model", "Serve the offline model over HTTP."),
}


# Threads of linear algebra. Several only wait for each other on matrices as small as those of ratings, in
# every worker thread of every process.
_LINEAR_ALGEBRA = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


class _Lazy(click.Group):
    """Imports a subcommand only when it is called, so that `--help` is quick and light installations work."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        for variable in _LINEAR_ALGEBRA:  # before the library is loaded, which reads them once
            os.environ.setdefault(variable, "1")
        command: Any = importlib.import_module(f"services.cli.commands.{COMMANDS[cmd_name][0]}").command
        assert isinstance(command, click.Command)  # noqa: S101 - our own table
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nuggetstream")
def main() -> None:
    """Explain battles between LLM answers, and rate the systems.

    Settings are environment variables, NUGGETSTREAM_..., listed in docs/operations.md. Without
    OPENAI_API_KEY and NUGGETSTREAM_LLM_BASE_URL the built-in offline model is used.
    """


if __name__ == "__main__":
    main()
