"""An evaluation is repeated on the pages that an earlier one archived, without any request."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from services.runtime.asgi import serving
from tests.e2e.battles import battle
from tests.e2e.processes import clean_environment, run_command

TEXT = """<p>Owls turn their heads by up to 270 degrees, because their eyes cannot move.</p>
<p>A barn owl finds a mouse in complete darkness by the time that a sound takes from one ear to the other.</p>
<p>Soft fringes on the wing feathers make the flight of most owls silent.</p>
<p>Snowy owls hunt by day in the arctic summer, when the sun does not set for weeks.</p>
<p>Pellets contain the bones and hair that the stomach of an owl cannot digest.</p>"""


WHEN = {"received_at", "ended_at", "steps"}


def repeated(folder: Path) -> list[dict[str, Any]]:
    """The results without what says when they were made, and how long that took."""
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted((json.loads(line) for line in lines), key=lambda row: str(row["id"]))
    return [{name: value for name, value in row.items() if name not in WHEN} for row in rows]


def results(folder: Path) -> list[tuple[Any, ...]]:
    """Of each battle the id, both answers with their sources, and the nuggets."""
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted((json.loads(line) for line in lines), key=lambda row: str(row["id"]))
    return [(row["id"], row["a"], row["b"], sorted(n["text"] for n in row["nuggets"])) for row in rows]


@pytest.mark.full
async def test_an_evaluation_is_repeated_on_archived_pages(tmp_path: Path) -> None:
    requests: list[str] = []

    async def page(request: Request) -> Response:
        requests.append(request.url.path)
        name = request.path_params["name"]
        if name == "broken":
            return Response("oops", 503)
        return HTMLResponse(f"<html><title>{name}</title><body><article>{TEXT}</article></body></html>")

    async with serving(Starlette(routes=[Route("/{name}", page)])) as site:
        host = site.partition("//")[2]
        battles = [battle(number) for number in range(2)]
        for number, row in enumerate(battles):
            row["a"]["sources"] = [{"url": f"{site}/owls{number}"}, {"url": f"{site}/broken"}]
            row["b"]["sources"] = [{"url": f"{site}/owls{number}?utm_source=b"}]
        file = tmp_path / "battles.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in battles), encoding="utf-8")
        archiving = clean_environment(
            embedding_model="none",
            scraper_allowed_hosts=host,
            scraper_archive_dir=str(tmp_path / "pages"),
        )
        code, output = await run_command(archiving, "eval", str(file), "--out", str(tmp_path / "first"))
        assert code == 0, output
    assert sorted(requests) == ["/broken", "/owls0", "/owls1", "/robots.txt"]
    # The site is down, and nothing exempts its host from the address guard.
    command = ("eval", str(file), "--out", str(tmp_path / "second"), "--replay", str(tmp_path / "pages"))
    code, output = await run_command(clean_environment(embedding_model="none"), *command)
    assert code == 0, output
    first, second = results(tmp_path / "first"), results(tmp_path / "second")
    assert {source["quality"] for _, a, _, _ in first for source in a["sources"]} == {"ok", "http_error"}
    assert second == first
    # Another replay gives the same in every field, also for a page that the archive does not have.
    for row in battles:
        row["b"]["sources"].append({"url": f"{site}/never-visited"})
    file.write_text("".join(json.dumps(row) + "\n" for row in battles), encoding="utf-8")
    runs = []
    for name in ("fourth", "fifth"):
        command = ("eval", str(file), "--out", str(tmp_path / name), "--replay", str(tmp_path / "pages"))
        code, output = await run_command(clean_environment(embedding_model="none"), *command)
        assert code == 0, output
        runs.append(repeated(tmp_path / name))
    assert runs[0] == runs[1]
    assert {source["quality"] for row in runs[0] for source in row["b"]["sources"]} == {"ok", "unreachable"}
    empty = tmp_path / "empty"
    empty.mkdir()
    code, output = await run_command(
        clean_environment(embedding_model="none"),
        "eval", str(file), "--out", str(tmp_path / "third"), "--replay", str(empty),
    )  # fmt: skip
    assert (code, f"{empty} contains no archive" in output) == (1, True), output
