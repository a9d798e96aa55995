"""`nuggetstream`: the command."""

import importlib
from typing import Any

import click

COMMANDS = {
    "up": "up",
    "serve": "serve",
    "eval": "evaluate",
    "report": "report",
    "rate": "rate",
    "rubric": "rubric",
    "crowd": "crowd",
    "fidelity": "fidelity",
    "demo": "demo",
    "bootstrap": "bootstrap",
    "migrate": "migrate",
    "doctor": "doctor",
    "health": "health",
    "offline-model": "offline_model",
}


class _Lazy(click.Group):
    """Imports a subcommand when it is asked for: `--help` stays quick and a light install works."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: Any = importlib.import_module(f"services.cli.commands.{module}").command
        assert isinstance(command, click.Command)  # noqa: S101 - our own table
        return command


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nuggetstream")
def main() -> None:
    """Explain LLM and RAG battles while they happen.

    Settings come from NUGGETSTREAM_* environment variables; without OPENAI_API_KEY or
    NUGGETSTREAM_LLM_BASE_URL everything is answered by the built-in offline model.
    """


if __name__ == "__main__":
    main()
