"""One edit of a question bank by a person in a browser: its scores are shown, then it is kept."""

import asyncio
import json
import re
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGINT
from urllib.request import Request, urlopen

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from nuggetstream.files.rubric import read_bank
from services.offline.serve import running
from tests.browser.reader import Reader
from tests.browser.test_accessible_pages import PHONE
from tests.e2e.command_line import written
from tests.e2e.processes import clean_environment
from tests.e2e.test_rubric_bank import Edited
from tests.e2e.test_rubric_grade import Model
from tests.forked import forked

NEW = "There are how many tides in 24 hours?"
ROWS = "[...document.querySelectorAll('table tbody tr')].map((row) => row.innerText.split('\\t'))"


@asynccontextmanager
async def served(environment: Mapping[str, str], *arguments: str | Path) -> AsyncIterator[str]:
    """The command, and the address that it prints."""
    command = ("rubric", "bank", "page", *map(str, arguments))
    child = await forked(*command, environment=environment, stdout=PIPE, stderr=None)
    assert child.stdout is not None
    async with asyncio.timeout(60):
        said = (await child.stdout.readline()).decode()
    named = re.fullmatch(r"page (http://127\.0\.0\.1:\d+/\S+/) .*\n", said)
    assert named is not None, said
    try:
        yield named[1]
    finally:
        child.send_signal(SIGINT)
        await child.wait()


async def fills(browser: Chrome, texts: Mapping[str, str]) -> None:
    """Open all queries, and fill in fields by their names."""

    def typed() -> None:
        browser.execute_script("document.querySelectorAll('details').forEach((e) => (e.open = true))")
        for name, text in texts.items():
            field = browser.find_element(By.NAME, name)
            field.clear()
            field.send_keys(text)

    await asyncio.to_thread(typed)


async def title(reader: Reader, words: str) -> None:
    await reader.until("document.readyState === 'complete' && document.title", lambda shown: words in shown)


@pytest.mark.timeout(180)
async def test_a_person_edits_a_bank_sees_every_score_and_keeps_it(browser: Chrome, tmp_path: Path) -> None:
    model = Model()
    async with running(model) as url:
        study = Edited(tmp_path, url)
        await study.grade()
        before, bank = model.asked.total(), (tmp_path / "bank.jsonl").read_bytes()
        options = ("--graded", study.out / "graded.jsonl", "--at", "1")
        async with served(study.environment, study.path("bank.jsonl"), *options) as address:
            reader = Reader(browser, address)
            await reader.opens("/")
            assert "3 questions of 2 queries, 0 held back" in (await reader.texts("main > p"))[0]
            await fills(browser, {"text t/moon": NEW, "by": "ada", "reason": "the moon is too easy"})
            await reader.clicks("[name='held t/number']")
            assert await reader.axe() == []
            await reader.shoots("bank")
            async with reader.width(PHONE):
                assert await reader.runs("document.documentElement.scrollWidth <= window.innerWidth")
            await reader.clicks("form button:not([formaction])")
            await title(reader, "What an edit of bank.jsonl changes")
            assert model.asked.total() == before + 3  # the new question alone, on the passages about tides
            scores = {row[0]: row[1:] for row in await reader.runs(ROWS)}
            assert scores["reef"] == ["0.750", "0.500", "0.750", "0.500", "1", "1"]
            assert any(NEW in each for each in await reader.texts("main li"))
            assert (tmp_path / "bank.jsonl").read_bytes() == bank  # shown, and not kept
            assert await reader.axe() == []
            await reader.shoots("bank-change")

            await reader.clicks("form button")
            await title(reader, "Question bank")
            assert "Version 2" in (await reader.texts("main > p"))[0]
            [entry] = study.history()
            assert (entry["by"], entry["reason"]) == ("ada", "the moon is too easy")
            assert [change["op"] for change in entry["changes"]] == ["change", "hold_back"]
            assert "t/moon" not in study.grades()["p1"]
            assert '"held_back": true' in (tmp_path / "bank.jsonl").read_text(encoding="utf-8")
            await reader.opens("/oversight")
            await title(reader, "Grades of")
            await reader.opens("/")
            await fills(browser, {"by": "bo", "reason": "read"})
            await reader.clicks("[formaction=approve]")
            await reader.until("document.body.innerText", lambda text: "approved" in text)
            assert "with 0 calls" in await study.grade()
            assert await reader.complaints() == []


def sent(address: str, name: str, **fields: str) -> tuple[int, str]:
    """Status and text of the page after a form, as a browser shows it."""
    body = "&".join(f"{key}={value}" for key, value in fields.items()).encode()
    request = Request(
        address + name, data=body, headers={"content-type": "application/x-www-form-urlencoded"}
    )
    try:
        with urlopen(request) as response:
            return response.status, response.read().decode()
    except OSError as error:
        return int(error.code), error.read().decode()  # type: ignore[attr-defined]


async def test_a_page_supplies_a_bank_and_never_overwrites_what_it_did_not_show(tmp_path: Path) -> None:
    queries = written(tmp_path, "queries.tsv", "tides\twhat causes tides\n")
    bank = tmp_path / "bank.jsonl"
    async with served(clean_environment(), bank, "--queries", queries) as address:

        def asks() -> None:
            with urlopen(address) as response:
                digest = re.findall(r'name="digest" value="(\w+)"', response.read().decode())[0]
            who = {"by": "bo", "reason": "first", "digest": digest}
            assert sent(address, "change", **who | {"by": "", "new+tides": "How%3F"})[0] == 422
            assert "How?" in sent(address, "change", **who | {"by": "", "new+tides": "How%3F"})[1]
            assert sent(address, "change", **who | {"new+tides": "How%3F%0AWhy%3F"})[0] == 200
            with urlopen(address + "change") as response:
                edit = re.findall(r'name="edit" value="(\w+)"', response.read().decode())[0]
            assert not bank.exists()
            assert sent(address, "keep", edit="other")[0] == 422
            assert sent(address, "keep", edit=edit)[0] == 200
            assert [item.text for item in read_bank(bank)] == ["How?", "Why?"]
            status, page = sent(address, "approve", **who)  # the page that showed no bank yet
            assert (status, "changed meanwhile" in page) == (422, True)
            secret = address.rstrip("/").rpartition("/")[0]
            assert sent(secret, "/change", **who)[0] == 404

        await asyncio.to_thread(asks)
    history = (tmp_path / "bank.jsonl.history.jsonl").read_text(encoding="utf-8").splitlines()
    assert [(row["action"], row["by"]) for row in map(json.loads, history)] == [("supplied", "bo")]
