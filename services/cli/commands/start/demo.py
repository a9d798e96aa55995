"""`nuggetstream demo`: run prepared battles through the whole platform, without a network.

With `--arena` people vote on them in a small arena instead. The platform is imported after the first line of
output, because that takes seconds.
"""

from pathlib import Path

import click

from services.cli.commands.showing import NEW_FOLDER
from services.cli.demo.progress import ProgressLine

_STARTING = "Nuggetstream demo: starting a broker, a database and all services here."


@click.command("demo")
@click.option(
    "--out",
    type=NEW_FOLDER,
    default=Path("out/demo"),
    show_default=True,
    help="Folder for results, pages and state. Files of an earlier demo are replaced; a folder with other "
    "files is rejected.",
)
@click.option(
    "--battle",
    metavar="ID",
    help="Run nothing, and explain this battle of the results in --out, which `nuggetstream eval` may have "
    "written, too.",
)
@click.option(
    "--open", "in_browser", is_flag=True, help="Open the page, with --arena the arena, in the browser."
)
@click.option(
    "--arena",
    is_flag=True,
    help="Serve a small arena until Ctrl-C: choose a question, vote on two answers, and see why.",
)
@click.option(
    "--http-port", type=int, help="With --arena: port of pages and API; 0 takes a free one.  [default: 8080]"
)
@click.option(
    "--arena-port", type=int, help="With --arena: port of the arena; 0 takes a free one.  [default: 8090]"
)
def command(
    out: Path,
    *,
    battle: str | None,
    in_browser: bool,
    arena: bool,
    http_port: int | None,
    arena_port: int | None,
) -> None:
    """Stream the demo's battles through the whole platform and explain one of them.

    It starts a small web site with good and broken pages, a broker, a database and all services in
    this process. Nothing leaves this machine unless a model is configured.
    """
    if not arena and (http_port is not None or arena_port is not None):
        raise click.UsageError("--http-port and --arena-port need --arena")
    if arena and battle is not None:
        raise click.UsageError("--battle explains a battle without running anything, so not with --arena")
    if battle is not None:
        from services.cli.demo.again import explain_again

        explain_again(out, battle, in_browser=in_browser)
        return
    with ProgressLine(_STARTING) as progress:
        from services.cli.demo.running import run_arena, run_demo

        if arena:
            run_arena(out, progress, http_port, arena_port, in_browser=in_browser)
        else:
            run_demo(out, progress, in_browser=in_browser)
