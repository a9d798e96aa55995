"""Three people answer a small study to its end: with a mouse, by keys alone, and on a phone in German."""

from selenium.webdriver import Chrome, Keys

from nuggetstream.client import AsyncClient
from nuggetstream.files.crowd_study import CrowdStudySubmission
from tests.browser.reader import Reader
from tests.browser.test_accessible_pages import PHONE, SMALL
from tests.browser.test_keyboard import tabs_to
from tests.integration.gateway.world import World, submission

SEVEN = 7
TITLE = "document.readyState === 'complete' && document.title"
NAMES = "[...new Set([...document.querySelectorAll('[type=radio]')].map((e) => e.name))]"
WIDE = "document.documentElement.scrollWidth > window.innerWidth"
TRAINING = {"battle": "tides0", "labels": {"quality_overall": "a"}}
GOLD = {"battle": "tides1", "labels": {"quality_overall": "a"}}
PAIRS, ITEMS = 3, 5


async def shows(reader: Reader, title: str) -> None:
    await reader.until(TITLE, lambda shown: title in shown)


async def begins(reader: Reader, link: str, title: str) -> None:
    await reader.opens(link)
    await reader.clicks("[name=agree]")
    await reader.clicks("form[action$=begin] button")
    await shows(reader, title)


async def answers_by_mouse(reader: Reader, value: str) -> None:
    names = await reader.runs(
        "[...new Set([...document.querySelectorAll('[type=radio]')].map((e) => e.name))]"
    )
    assert len(names) == SEVEN
    for name in names:
        await reader.clicks(f"[name={name}][value={value}]")
    await reader.clicks("form.questions button")


async def answers_by_keys(reader: Reader) -> None:
    """Choose the second answer everywhere: the arrow up from the first choice leads to the last one."""
    for number in range(1, SEVEN + 1):
        await tabs_to(reader, f"fieldset:nth-of-type({number}) [type=radio]")
        await reader.presses(Keys.ARROW_UP)
        await reader.until("document.activeElement.value", lambda value: value == "b")
    await tabs_to(reader, "form.questions button")
    await reader.presses(Keys.ENTER)


async def code_of(reader: Reader) -> str:
    code = str(await reader.until("document.getElementById('code')?.textContent"))
    await reader.runs("document.cookie")
    return code


async def test_three_people_answer_a_study_to_its_end(browser: Chrome, world: World) -> None:
    for number in range(ITEMS):
        sent = submission(id=f"tides{number}", query=f"Why are there {number} tides?")
        await world.http.post("/v1/battles", json=sent)
    study = CrowdStudySubmission.model_validate(
        {"name": "Tides", "arena": "demo", "training": [TRAINING], "gold": [GOLD], "workers_per_pair": 3}
    )
    async with AsyncClient(str(world.http.base_url)) as client:
        link = (await client.add_study(study)).link
        reader, codes = Reader(browser, world), set[str]()

        await begins(reader, f"{link}?lang=en&participant=mouse", "Item 1 of 5")
        assert await reader.axe() == []
        for number in range(1, ITEMS + 1):
            await shows(reader, f"Item {number} of 5")
            await answers_by_mouse(reader, "a")
        codes.add(await code_of(reader))
        browser.delete_all_cookies()

        await begins(reader, f"{link}?lang=en&participant=keys", "Item 1 of 5")
        for number in range(1, ITEMS + 1):
            await shows(reader, f"Item {number} of 5")
            await answers_by_keys(reader)
        codes.add(await code_of(reader))
        browser.delete_all_cookies()

        async with reader.width(PHONE):
            await begins(reader, f"{link}?lang=de&participant=phone", "Aufgabe 1 von 5")
            for number in range(1, ITEMS + 1):
                await shows(reader, f"Aufgabe {number} von 5")
                assert not await reader.runs(WIDE)
                assert await reader.runs(SMALL) == []
                await answers_by_mouse(reader, "b")
            codes.add(await code_of(reader))
            assert await reader.runs("document.documentElement.lang") == "de"
            assert await reader.axe() == []
        browser.delete_all_cookies()

        workers = {worker.participant: worker for worker in await client.study_workers(await first(client))}
        answers = await client.study_answers(await first(client))
    assert codes == {worker.code for worker in workers.values()}
    assert [worker.answered for worker in workers.values()] == [PAIRS] * 3
    assert len(answers) == PAIRS * 3
    said = {
        (
            a.worker,
            ("b" if a.labels["quality_overall"] == "a" else "a")
            if a.reversed
            else a.labels["quality_overall"],
        )
        for a in answers
    }
    assert said == {(workers["mouse"].id, "a"), (workers["keys"].id, "b"), (workers["phone"].id, "b")}
    assert all(len(answer.labels) == SEVEN for answer in answers)
    assert await reader.complaints() == []


async def first(client: AsyncClient) -> str:
    """Id of the only study."""
    [study] = await client.studies()
    assert study.finished == 3
    return study.id
