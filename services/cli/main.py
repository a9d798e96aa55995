"""The `nuggetstream` command and the groups of its subcommands."""

import importlib
import os
import signal
import sys
import threading
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import ModuleType
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand.

    Attributes:
        module: Its module; in `GROUPS` its name in the folder of its group.
        summary: Its line in the list of commands.
        extra: The extra of the package that it needs; None where the package alone is enough.
    """

    module: str
    summary: str
    extra: str | None = None


GROUPS = {
    "Start": {
        "demo": Command("demo", "Run the demo's battles through the platform, explain one.", "light"),
        "up": Command("up", "Run the whole platform in one process.", "light"),
        "doctor": Command("doctor", "Check installation, configuration and connections."),
    },
    "Files": {
        "eval": Command("evaluate", "Evaluate all battles of a file.", "light"),
        "tournament": Command("tournament", "Compare RAG agents on documents of your own.", "light"),
        "report": Command("report", "Write a report of results as one page that works offline.", "analysis"),
        "compare": Command("compare", "Compare two evaluations of the same battles.", "analysis"),
        "rate": Command("rate", "Rate systems from files of votes."),
        "import": Command("import_file", "Read battles in the formats of other projects.", "client"),
        "export": Command("export_file", "Write results in the formats of other projects.", "client"),
        "export-days": Command("export_days", "Write battles and costs as Parquet tables by day.", "light"),
        "rubric": Command("rubric", "Score passages by the questions they answer.", "analysis"),
        "crowd": Command("crowd", "Measure agreement and competence from workers' labels.", "analysis"),
        "text": Command("text", "Length, readability, citations and markup of texts.", "analysis"),
        "archive": Command("archive", "List or verify an archive of pages."),
    },
    "Battles": {
        "nuggets": Command("nuggets", "Show or edit the nugget list of a battle.", "client"),
        "calls": Command("calls", "List the model calls of a battle.", "client"),
        "failures": Command("failures", "List, retry or discard what was given up.", "client"),
        "rerun": Command("rerun", "Evaluate old battles again, and compare the results.", "client"),
        "delete": Command("delete", "Delete battles, with everything that only they brought.", "client"),
        "retention": Command("retention", "Delete battles that are older than an age.", "client"),
        "study": Command("study", "Ask people which of two answers is better.", "client"),
        "canary": Command("canary", "Let the judges compare canary battles now.", "light"),
    },
    "Access": {
        "keys": Command("keys", "Create, list, rotate or revoke API keys."),
        "webhooks": Command("webhooks", "Send events of battles to other programs.", "client"),
        "audit": Command("audit", "List who did what, by key.", "client"),
    },
    "Administer": {
        "serve": Command("serve", "Run one service of the platform."),
        "health": Command("health", "Check whether a running service is ready."),
        "bootstrap": Command("bootstrap", "Create all streams and consumers at the broker."),
        "migrate": Command("migrate", "Create or update the tables of the database."),
        "stages": Command("stages", "Pause a stage for a while, resume it, or list all."),
        "recount": Command("recount", "Compare counters with the rows they count; correct them."),
        "reindex": Command("reindex", "Move the corpus to another index or embedding model."),
    },
    "Develop": {
        "fidelity": Command("fidelity", "Compute reference numbers of five papers again.", "analysis"),
        "offline-model": Command("offline_model", "Serve the offline model over HTTP.", "judge"),
    },
}
COMMANDS = {
    name: replace(command, module=f"services.cli.commands.{group.lower()}.{command.module}")
    for group, commands in GROUPS.items()
    for name, command in commands.items()
}


# Variables that libraries read once, when they are loaded; an operator can set others.
_ENVIRONMENT = {
    # Several threads of linear algebra only wait for each other on matrices as small as those of ratings, in
    # every worker thread of every process.
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    # A child process never calls gRPC before it executes a program, so nothing has to be prepared for it. The
    # preparation logs a line for every child that is started while calls are in flight.
    "GRPC_ENABLE_FORK_SUPPORT": "0",
    "GRPC_VERBOSITY": "ERROR",
}


_INTERRUPTED = 130  # exit code


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
        message = f"{error.name} is not installed: pip install '.[{command.extra}]' in a checkout"
        raise click.ClickException(message) from error


class _Interruption:
    """Ctrl-C in a command without a handler of its own: the first one stops it, the second ends it at once.

    A library in which it comes may raise an error of its own in place of KeyboardInterrupt.

    Attributes:
        came: Whether there was one.
    """

    came = False

    def __enter__(self) -> None:
        """Handle Ctrl-C; signals come in the main thread alone."""
        self._is_main = threading.current_thread() is threading.main_thread()
        if self._is_main:
            self._before = signal.signal(signal.SIGINT, self._on_signal)

    def __exit__(self, *_: object) -> None:
        """Give the signal back, unless the process is about to end."""
        if self._is_main and not self.came:
            signal.signal(signal.SIGINT, self._before)

    def _on_signal(self, *_: object) -> None:
        if self.came:
            os._exit(_INTERRUPTED)
        self.came = True
        print("stopping", file=sys.stderr)  # above a progress bar, unlike click
        raise KeyboardInterrupt


class _Lazy(click.Group):
    """Imports a subcommand only when it is called, so that `--help` is quick and light installations work."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        for variable, value in _ENVIRONMENT.items():
            os.environ.setdefault(variable, value)
        command: Any = _imported(COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)  # noqa: S101 - our own table
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:  # which suggests only commands that are imported
            nearest = get_close_matches(error.command_name, COMMANDS, n=1)  # click would sort several
            raise click.NoSuchCommand(error.command_name, possibilities=nearest, ctx=ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        interruption = _Interruption()
        try:
            with interruption:
                return super().invoke(ctx)
        except BaseException:
            if not interruption.came:
                raise
            ctx.exit(_INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), command.summary) for name, command in commands.items()]
                )


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nuggetstream")
def main() -> None:
    """Explain battles between LLM answers, and rate the systems.

    Settings are environment variables, NUGGETSTREAM_..., listed in docs/operations/settings.md. Without
    OPENAI_API_KEY and NUGGETSTREAM_LLM_BASE_URL the built-in offline model is used.
    """


if __name__ == "__main__":
    main()
