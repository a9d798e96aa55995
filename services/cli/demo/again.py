"""Explain a battle of results that exist already, without running anything."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.console import Console

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import result_views
from services.cli.commands.showing import BadInput, refusing
from services.cli.demo.browser import open_url
from services.cli.demo.explain import explanation
from services.cli.demo.snapshot import page_of
from services.cli.evaluation.demo_folder import PAGES
from services.cli.evaluation.results import RESULTS


def explain_again(out: Path, battle: str, *, in_browser: bool) -> None:
    """Print the explanation of a battle, and open its page if asked to.

    Raises:
        BadInput: There are no results, no such battle in them, or no page of it.
    """
    view = _view(out / RESULTS, battle)
    try:
        parts = explanation(view)
    except KeyError as missing:
        raise BadInput(
            f"{out / RESULTS}: {battle!r} has no {missing}: run `nuggetstream eval` again"
        ) from missing
    console = Console(highlight=False)
    for part in parts:
        console.print(part)
    if in_browser:
        page = out / PAGES / page_of(f"/battles/{quote(battle, safe='')}")
        if not page.is_file():
            raise BadInput(f"there is no page {page}")
        open_url(page.resolve().as_uri())


def _view(results: Path, battle: str) -> dict[str, Any]:
    if not results.is_file():
        raise BadInput(f"there are no results in {results.parent}: run `nuggetstream demo` first")
    ids = []
    with refusing(UnusableFile):
        for view in result_views(results):
            if view["id"] == battle:
                return view
            ids.append(view["id"])
    raise BadInput(f"{results} has no battle {battle!r}; some that it has: {', '.join(ids[:20])}")
