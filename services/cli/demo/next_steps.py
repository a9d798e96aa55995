"""Where to look after the demo: files, and commands that can be copied."""

import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

import click
from click.core import ParameterSource

from services.cli.evaluation.demo_folder import STATE
from services.cli.evaluation.results import RESULTS

# A battle as a command; `eval` reads it from the pipe.
_OWN = """\
  echo '{"id": "mine", "query": "Why is the sky blue?",' \\
    '"a": {"system": "x", "text": "Air scatters blue light more than red light.",' \\
    '"sources": [{"text": "Air scatters blue light far more than red light."}]},' \\
    '"b": {"system": "y", "text": "It reflects the sea."}}' |"""


def next_steps(out: Path, page: Path) -> Iterable[str]:
    """Files and commands to go on with, as lines that can be copied."""
    command = _this_command()
    is_default = click.get_current_context().get_parameter_source("out") is ParameterSource.DEFAULT
    where = "" if is_default else f" --out {shlex.quote(str(out))}"
    own = shlex.quote(str(out.parent / "mine"))
    yield "Look next"
    yield f"  {page}   # every battle and board; --open opens it"
    yield f"  {out / 'summary.txt'}   # the boards as tables; all numbers are in {RESULTS}"
    yield f"  {command} demo --battle demo-07{where}   # explains another battle"
    yield f"  {command} up --data-dir {shlex.quote(str(out / STATE))}   # the pages, live"
    yield "Evaluate a battle of your own, and explain it"
    yield _OWN
    yield f"    {command} eval /dev/stdin --out {own}"
    yield f"  {command} demo --battle mine --out {own}"


def _this_command() -> str:
    """The command by which this program was called, as a relative path where that is shorter."""
    name = click.get_current_context().find_root().info_name or ""
    if name.startswith("python -m"):
        return name
    relative = os.path.relpath(sys.argv[0])
    return shlex.quote(sys.argv[0] if relative.startswith("..") else relative)
