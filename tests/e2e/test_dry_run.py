"""A dry run beside endpoints that count their calls: none is made, nothing is written, all is estimated."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from services.judge.registry import heuristics
from services.offline.app import create_app
from services.offline.serve import running
from services.runtime.asgi import serving
from tests.e2e.battles import battle
from tests.e2e.processes import clean_environment, run_command
from tests.integration.indexer.conftest import Server as Embeddings
from tests.services.retriever.test_reranking import Server as Reranker

PAGE = "<html><title>Owls</title><body><article>{}</article></body></html>".format(
    "".join(
        f"<p>Owls turn their heads by up to {200 + i} degrees, for their eyes cannot move.</p>"
        for i in range(9)
    )
)
PRICES = """
[models.dear]
input = 1000
output = 2000
[models.small]
input = 10
output = 20
[models.words]
input = 3
output = 0
[models.cross]
input = 7
output = 0
"""


@dataclass
class Chat:
    """A chat model that counts its calls."""

    calls: int = 0
    app: Starlette = field(default_factory=lambda: create_app(None, more=heuristics))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.calls += 1
        await self.app(scope, receive, send)


def files_of(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def rows_of(output: str) -> dict[str, tuple[int, int, int]]:
    """The table of calls: of each row its calls, tokens in and tokens out."""
    found = re.findall(r"^(\S.*?) +([\d,]+) +([\d,]+) +([\d,]+)$", output, flags=re.M)
    return {name: tuple(int(n.replace(",", "")) for n in numbers) for name, *numbers in found}  # type: ignore[misc]


def lines(folder: Path, site: str) -> Path:
    """A file with battles whose answers cite a page of the site beside a text."""
    battles = [battle(number) for number in range(3)]
    for row in battles:
        row["b"]["sources"] = [{"url": f"{site}/owls"}]
    file = folder / "battles.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in battles), encoding="utf-8")
    return file


async def page(_: Request) -> Response:
    return HTMLResponse(PAGE)


async def test_a_dry_run_calls_no_endpoint_and_estimates_each_at_its_own_price(tmp_path: Path) -> None:
    chat, embeddings, reranker = Chat(), Embeddings(), Reranker()
    reranker.wait.set()
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES, encoding="utf-8")
    async with (
        serving(Starlette(routes=[Route("/owls", page)])) as site,
        running(chat) as chat_url,
        running(embeddings) as embeddings_url,
        running(reranker) as reranker_url,
    ):
        file = lines(tmp_path, site)
        environment = clean_environment(
            llm_base_url=chat_url,
            llm_model="dear",
            llm_stages='{"nuggetizer": {"decision_model": "small"}}',
            llm_prices=str(prices),
            embedding_url=embeddings_url,
            embedding_model="words",
            rerank_url=reranker_url,
            rerank_model="cross",
            retrieval_query_variations="2",
            scraper_allowed_hosts=site.partition("//")[2],
            scraper_archive_dir=str(tmp_path / "pages"),
        )
        before = files_of(tmp_path)
        code, output = await run_command(environment, "eval", str(file), "--dry-run")
    assert code == 0, output
    assert (chat.calls, embeddings.requests, reranker.requests) == (0, [], [])
    assert files_of(tmp_path) == before
    rows = rows_of(output)
    assert {name: calls for name, (calls, _, _) in rows.items() if name.startswith("retriever")} == {
        "retriever": 3,  # variations, by the chat model
        "retriever cross": 3,
    }
    assert rows["indexer words"][0] >= 3
    assert rows["nuggetizer small"][0] == 3
    expected = 0.0
    for name, (_, tokens_in, tokens_out) in rows.items():
        model = name.partition(" ")[2]
        price = {"words": 3.0, "cross": 7.0, "small": 10.0}.get(model, 1000.0)
        assert tokens_in > 0
        expected += price * (tokens_in + 2 * tokens_out) / 1e6 * (name != "together")
    assert f"Cost with dear, words, small, cross: {expected:.2f} USD\n" in output
    assert "cross is priced by its tokens: for a provider that charges per search" in output


async def test_models_in_the_process_cost_nothing_and_are_neither_loaded_nor_measured(tmp_path: Path) -> None:
    file = tmp_path / "battles.jsonl"
    file.write_text(json.dumps(battle(1)) + "\n", encoding="utf-8")
    environment = clean_environment(embedding_model="./no-such-model", rerank_model="./no-such-reranker")
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    code, output = await run_command(environment, "eval", str(file), "--dry-run")
    assert code == 0, output
    assert set(rows_of(output)) == {"nuggetizer", "assigner", "judge", "together"}
    assert "Passages were ranked by their words" in output
    assert not (tmp_path / "cache").exists()
