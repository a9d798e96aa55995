"""Extraction processes: killed when they hang, replaced when they die, gone when the parent is."""

import asyncio
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from services.scraper.extraction import ExtractionFailed, ExtractionJob
from services.scraper.extraction_pool import ExtractionPool, extractor_command
from services.scraper.media_type import MediaKind
from services.scraper.settings import ScraperSettings

# Speaks the frames, and misbehaves as the document asks.
TEST_EXTRACTOR = """
import json, os, struct, sys, time
def send(value):
    data = json.dumps(value).encode()
    sys.stdout.buffer.write(struct.pack(">II", len(data), 0) + data)
    sys.stdout.buffer.flush()
send({})
while prefix := sys.stdin.buffer.read(8):
    head, size = struct.unpack(">II", prefix)
    sys.stdin.buffer.read(head)
    body = sys.stdin.buffer.read(size).decode()
    if body == "hang":
        while True: time.sleep(1)
    if body == "die":
        os._exit(3)
    if body == "babble":
        sys.stdout.buffer.write(b"x" * 100); sys.stdout.buffer.flush(); continue
    send({"text": f"{body} by {os.getpid()}"})
"""
SCRIPTED = (sys.executable, "-c", TEST_EXTRACTOR)


def job(body: str | bytes, kind: MediaKind = MediaKind.TEXT) -> ExtractionJob:
    data = body.encode() if isinstance(body, str) else body
    return ExtractionJob(kind, "http://example.com/", "text/plain; charset=utf-8", "", data)


def limits(workers: int = 1, seconds: float = 5, jobs: int = 100) -> ScraperSettings:
    return ScraperSettings(
        extraction_workers=workers, extraction_seconds=seconds, extraction_jobs_per_worker=jobs
    )


@pytest.mark.parametrize("misdeed", ["hang", "die", "babble"])
async def test_a_process_that_misbehaves_costs_its_page_only_and_is_replaced(misdeed: str) -> None:
    async with ExtractionPool(limits(seconds=4.0), SCRIPTED) as pool:
        (first,) = pool.process_ids
        with pytest.raises(ExtractionFailed) as failed:
            await pool.extract(job(misdeed))
        assert not psutil.pid_exists(first)
        assert (await pool.extract(job("next"))).text != f"next by {first}"
        if misdeed == "die":
            assert "out of memory" in str(failed.value)


async def test_processes_are_reused_and_replaced_when_old() -> None:
    async with ExtractionPool(limits(jobs=2), SCRIPTED) as pool:
        texts = [(await pool.extract(job("page"))).text for _ in range(4)]
    assert texts[0] == texts[1]
    assert texts[1] != texts[2]
    assert texts[2] == texts[3]


async def test_a_cancelled_page_does_not_cost_a_place_in_the_pool() -> None:
    async with ExtractionPool(limits(seconds=30), SCRIPTED) as pool:
        hanging = asyncio.create_task(pool.extract(job("hang")))
        await asyncio.sleep(0.05)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert (await pool.extract(job("next"))).text.startswith("next")
        assert len(pool.process_ids) == 1


async def test_closing_ends_every_process_even_a_hanging_one() -> None:
    async with ExtractionPool(limits(workers=2, seconds=30), SCRIPTED) as pool:
        hanging = [asyncio.create_task(pool.extract(job("hang"))) for _ in range(2)]
        while len(pool.process_ids) < 2:
            await asyncio.sleep(0.01)
        ids = pool.process_ids
    assert not any(psutil.pid_exists(one) for one in ids)
    results = await asyncio.gather(*hanging, return_exceptions=True)
    assert all(isinstance(result, ExtractionFailed) for result in results)


async def test_a_command_that_cannot_start_is_found_out_at_once() -> None:
    with pytest.raises(ExtractionFailed, match="does not start"):
        async with ExtractionPool(limits(), (sys.executable, "-c", "raise SystemExit(1)")):
            pytest.fail("entered")


async def test_the_real_process_stays_within_its_memory_and_gets_no_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    settings = ScraperSettings(extraction_memory_bytes=200 * 1024 * 1024)
    async with ExtractionPool(limits(seconds=20), extractor_command(settings)) as pool:
        (first,) = pool.process_ids
        assert "OPENAI_API_KEY" not in psutil.Process(first).environ()
        with pytest.raises(ExtractionFailed, match="out of memory"):
            await pool.extract(job(b"owl " * 15_000_000))
        assert (await pool.extract(job("Owls."))).text == "Owls."


async def test_the_real_process_ends_itself_when_a_document_takes_too_long() -> None:
    command = (*extractor_command(ScraperSettings())[:-1], "0.02")
    slow = b"<html><body><article>" + b"<p>Owls hear mice under the snow.</p>" * 20_000
    async with ExtractionPool(limits(seconds=30), command) as pool:
        with pytest.raises(ExtractionFailed, match="out of time"):
            await pool.extract(job(slow, MediaKind.HTML))
        assert (await pool.extract(job("Owls."))).text == "Owls."


async def test_hostile_markup_is_survived() -> None:
    deep = b"<html><body>" + b"<div>" * 100_000 + b"owl" + b"</div>" * 100_000
    nul = b"<html><body><p>owl\x00\xed\xa0\x80 &#xD800; &#0;</p></body></html>"
    async with ExtractionPool(limits(seconds=20)) as pool:
        for body in (deep, nul, b"<", b"<!--", b"%PDF-", b"<html" * 1000):
            for kind in MediaKind:
                try:
                    text = (await pool.extract(job(body, kind))).text
                except ExtractionFailed:
                    continue
                text.encode("utf-8")
                assert "\x00" not in text


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process table of Linux")
def test_no_process_survives_its_parent(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import asyncio
        from services.scraper.extraction_pool import *
        from services.scraper.settings import ScraperSettings
        settings = ScraperSettings()
        async def main():
            async with ExtractionPool(settings) as pool:
                print(pool.process_ids[0], flush=True)
                await asyncio.sleep(60)
        asyncio.run(main())
    """)
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=os.environ | {})
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 5
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
