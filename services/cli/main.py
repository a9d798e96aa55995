"""`nuggetstream`: the command."""

import importlib
from typing import Any

import click

# Name -> module, and what the list of commands says of it.
COMMANDS = {
    "up": ("up", "Run the whole platform in this process."),
    "serve": ("serve", "Run one service."),
    "eval": ("evaluate", "Evaluate every battle of a file."),
    "report": ("report", "Turn results into one page that works offline."),
    "rate": ("rate", "Rate systems from files of votes."),
    "rubric": ("rubric", "Score passages by the questions they answer."),
    "crowd": ("crowd", "Agreement, gold labels, competence and grades from workers' labels."),
    "text": ("text", "Length, readability, citations and markup of texts."),
    "fidelity": ("fidelity", "Compute reference numbers again."),
    "demo": ("demo", "Stream the demo's battles and explain one."),
    "bootstrap": ("bootstrap", "Create every stream and consumer."),
    "migrate": ("migrate", "Bring the database up to date."),
    "doctor": ("doctor", "Check installation and configuration."),
    "health": ("health", "Ask the service on this machine if it is ready."),
    "offline-model": ("offline_model", "Serve the built-in model over HTTP."),
}


class _Lazy(click.Group):
    """Imports a subcommand when it is asked for: `--help` stays quick and a light install works."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: Any = importlib.import_module(f"services.cli.commands.{COMMANDS[cmd_name][0]}").command
        assert isinstance(command, click.Command)  # noqa: S101 - our own table
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nuggetstream")
def main() -> None:
    """Explain LLM and RAG battles while they happen.

    Settings come from NUGGETSTREAM_* environment variables; without OPENAI_API_KEY or
    NUGGETSTREAM_LLM_BASE_URL everything is answered by the built-in offline model.
    """


if __name__ == "__main__":
    main()
