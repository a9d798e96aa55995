"""What takes long with a large source runs in a thread, so that the gateway answers others meanwhile."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from nuggetstream.domain.identity import content_hash
from services.gateway import ports
from services.gateway.battles import intake, submission_routes
from services.runtime.large_work import sized
from services.wire import codec
from tests.integration.gateway.world import World, submission

LARGE = "The Moon raises two tidal bulges. " * 10_000


class Threads:
    """Notes on which threads functions run."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch, self.of = patch, dict[str, set[int]]()

    def watch(self, module: object, name: str) -> None:
        function: Callable[..., Any] = getattr(module, name)
        used = self.of.setdefault(name, set())

        def noted(*args: Any, **kwargs: Any) -> Any:
            used.add(threading.get_ident())
            return function(*args, **kwargs)

        self._patch.setattr(module, name, noted)


@pytest.mark.parametrize(("text", "in_thread"), [("The Moon.", False), (LARGE, True)])
async def test_a_large_source_is_read_hashed_and_shown_off_the_loop(
    world: World, monkeypatch: pytest.MonkeyPatch, text: str, in_thread: bool
) -> None:
    threads = Threads(monkeypatch)
    threads.watch(submission_routes, "parse_submission_json")
    threads.watch(intake, "_stored_as")
    sent = submission(id="large")
    sent["a"]["sources"] = [{"url": "https://example.org", "text": text}]
    assert (await world.http.post("/v1/battles", json=sent)).status_code == 202
    threads.watch(ports, "assemble")
    assert (await world.http.get("/v1/battles/large")).status_code == 200
    on_loop = {name for name, used in threads.of.items() if threading.get_ident() in used}
    assert threads.of.keys() == {"parse_submission_json", "_stored_as", "assemble"}
    assert on_loop == (set() if in_thread else threads.of.keys())


async def test_an_event_that_travelled_by_reference_is_decoded_off_the_loop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = submission(id="large")
    sent["a"]["sources"] = [{"url": "https://example.org", "text": LARGE}]
    assert (await world.http.post("/v1/battles", json=sent)).status_code == 202
    threads = Threads(monkeypatch)
    threads.watch(codec, "decode")
    assert [type(event).__name__ for event in await world.published()] == ["BattleSubmitted"]
    assert threading.get_ident() not in threads.of["decode"]


async def test_a_function_gets_its_arguments_and_its_error_arrives() -> None:
    assert await sized(1, content_hash, "x") == await sized(10**9, content_hash, text="x")
    with pytest.raises(AttributeError):
        await sized(10**9, content_hash, None)  # type: ignore[arg-type]
