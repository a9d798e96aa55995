"""Asking people over HTTP: from a study to labels, and what a stranger cannot do."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from nuggetstream.client import AsyncClient, Invalid, NotFound
from nuggetstream.domain.failure import Reason
from nuggetstream.files.crowd_study import CrowdStudySubmission
from nuggetstream.views.crowd_studies import CrowdStudyView
from services.gateway.studies import questionnaire
from services.gateway.studies.pages import COOKIE
from services.runtime.errors import Outage
from services.store.database import Database
from services.store.studies.study_tasks import StudyTasks
from tests.integration.gateway.access.samples import FORM
from tests.integration.gateway.world import World, submission
from tests.integration.store.conftest import database as database  # noqa: PLC0414 - fixtures
from tests.integration.store.conftest import database_url as database_url  # noqa: PLC0414

_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
SMALL: dict[str, Any] = {"name": "Tides", "arena": "demo", "dimensions": [{"name": "quality_overall"}]}


@pytest.fixture
def record(database: Database) -> Database:
    """A database of each kind in turn, with every table."""
    return database


@dataclass
class Worker:
    """A browser that opens the link of a study."""

    world: World
    study: CrowdStudyView
    cookies: dict[str, str] = field(default_factory=dict)
    page: str = ""

    async def send(self, method: str, path: str, **more: Any) -> httpx2.Response:
        headers = more.pop("headers", {}) | {"cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        reply = await self.world.http.request(method, f"{self.study.link}{path}", headers=headers, **more)
        for name, value in reply.cookies.items():
            self.cookies[name] = value
        self.world.http.cookies.clear()
        self.page = reply.text
        return reply

    async def opens(self, **params: str) -> str:
        reply = await self.send("GET", "", params=params, headers={"accept-language": "de, en;q=0.5"})
        assert reply.status_code == 200
        return self.page

    async def begins(self, participant: str = "") -> httpx2.Response:
        fields = {"agree": "yes", "lang": "en", "participant": participant}
        return await self.send("POST", "/begin", data=fields, headers=FORM)

    def hidden(self) -> dict[str, str]:
        return dict(_HIDDEN.findall(self.page))

    async def answers(self, label: str = "a", **fields: str) -> httpx2.Response:
        """Answer what is before the worker in the only dimension, and follow to the next page."""
        await self.opens()
        reply = await self.send(
            "POST", "/answer", data=self.hidden() | {"quality_overall": label} | fields, headers=FORM
        )
        if reply.status_code == 303:
            await self.opens(**dict(httpx2.URL(reply.headers["location"]).params))
        return reply


async def added(world: World, sends: int = 1, **changes: Any) -> CrowdStudyView:
    for number in range(sends):
        sent = submission(id=f"tides{number}", query=f"Why are there {number} tides?")
        assert (await world.http.post("/v1/battles", json=sent)).status_code in (200, 202)
    study = CrowdStudySubmission.model_validate(SMALL | changes)
    async with AsyncClient(str(world.http.base_url)) as client:
        return await client.add_study(study)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> list[timedelta]:
    """What is added to the time that workers' pages read."""
    passed = [timedelta()]

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + passed[0]

    monkeypatch.setattr(questionnaire, "datetime", Later)
    return passed


async def test_a_study_from_the_link_to_the_labels(world: World) -> None:
    study = await added(world, sends=3, gold=[{"battle": "tides2", "labels": {"quality_overall": "a"}}])
    assert (study.pairs, study.wanted, study.boundary is not None) == (2, 10, True)
    worker = Worker(world, study)
    assert "Zwei Antworten vergleichen" in await worker.opens(participant="p-1")
    assert (await worker.opens(lang="en")).count("Compare two answers") == 2
    assert (await worker.begins("p-1")).status_code == 303
    await worker.opens()
    assert "Item 1 of 3" in worker.page
    assert "atlas" not in worker.page  # nobody is told which system wrote an answer
    shown = [await worker.answers(label) for label in ("a", "b", "a")]
    assert {reply.status_code for reply in shown} == {303}
    code = re.search(r'id="code">(\w+)<', worker.page)
    assert code is not None
    async with AsyncClient(str(world.http.base_url)) as client:
        [told] = await client.studies("demo")
        answers = await client.study_answers(study.id)
        [row] = await client.study_workers(study.id)
    assert (told.answered, told.finished, told.workers) == (2, 1, 1)
    assert {answer.battle for answer in answers} == {"tides0", "tides1"}
    assert [answer.worker for answer in answers] == [row.id, row.id]
    assert (row.participant, row.code, row.answered, row.gold) == ("p-1", code[1], 2, 1)


async def test_labels_name_answer_a_whatever_was_shown_first(world: World) -> None:
    study = await added(world, reversed_share=1.0)
    worker = Worker(world, study)
    await worker.begins()
    page = await worker.opens()
    assert page.index("spring tides") < page.index("Two bulges")  # B, then A
    await worker.answers("a")  # the first answer
    async with AsyncClient(str(world.http.base_url)) as client:
        [answer] = await client.study_answers(study.id)
    assert (answer.labels, answer.reversed) == ({"quality_overall": "b"}, True)


async def test_grades_with_a_reason(world: World) -> None:
    texts = {language: {"dimension facts": "Facts"} for language in ("en", "de")}
    study = await added(
        world, mode="grade", justify=True, dimensions=[{"name": "facts"}], reversed_share=1.0, texts=texts
    )
    worker = Worker(world, study)
    await worker.begins()
    graded = {"facts a": "2", "facts b": "5", "quality_overall": ""}
    assert (await worker.answers(**graded)).status_code == 422  # no reason
    assert (await worker.answers(**graded, justification="x" * 2001)).status_code == 422
    assert (await worker.answers(**graded, justification="It  says\nwhy.")).status_code == 303
    async with AsyncClient(str(world.http.base_url)) as client:
        [answer] = await client.study_answers(study.id)
    assert (answer.labels, answer.justification) == ({"facts b": "2", "facts a": "5"}, "It says why.")


async def test_people_practise_and_are_told_what_was_expected(world: World) -> None:
    training = [{"battle": "tides0", "labels": {"quality_overall": "a"}}]
    study = await added(world, sends=2, training=training, reversed_share=0.0)
    right, wrong = Worker(world, study), Worker(world, study)
    for worker, label, told in ((right, "a", "you agreed with us"), (wrong, "b", "Which answer is better")):
        await worker.begins()
        assert "an example to practise on" in await worker.opens()
        await worker.answers(label)
        assert told in worker.page.partition("<form")[0]
        assert "an example to practise on" not in worker.page


async def test_strangers_answer_for_nobody(world: World) -> None:
    study = await added(world, sends=2)
    ann, eve = Worker(world, study), Worker(world, study)
    await ann.begins()
    await ann.opens()
    form = ann.hidden() | {"quality_overall": "a"}
    nobody = await eve.send("POST", "/answer", data=form, headers=FORM)
    assert nobody.status_code == 403  # without a cookie
    await eve.begins()
    other = await eve.send("POST", "/answer", data=form, headers=FORM)
    assert other.status_code == 403  # the form of another worker
    await eve.opens()
    guessed = eve.hidden() | {"quality_overall": "a", "item": "7"}
    assert (await eve.send("POST", "/answer", data=guessed, headers=FORM)).status_code == 403
    foreign = await ann.send("POST", "/answer", data=form, headers=FORM | {"origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert (await ann.send("POST", "/answer", data=form, headers=FORM)).status_code == 303
    async with AsyncClient(str(world.http.base_url)) as client:
        assert len(await client.study_answers(study.id)) == 1
    for unknown in ("/studies/st_guessed", "/studies/%00", "/studies/x"):
        assert (await world.http.get(unknown)).status_code == 404


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"quality_overall": "n"}, 303),
        ({"item": "5"}, 403),
        ({"quality_overall": "x"}, 422),
        ({"quality_overall": ""}, 422),
        ({"item": "-1"}, 422),
        ({"item": "9" * 30}, 422),
        ({"quality_overall": "a" * 70_000}, 413),
    ],
)
async def test_what_no_form_of_ours_sends_is_rejected(
    world: World, fields: dict[str, str], status: int
) -> None:
    worker = Worker(world, await added(world))
    await worker.begins()
    await worker.opens()
    reply = await worker.send(
        "POST", "/answer", data=worker.hidden() | {"quality_overall": "a"} | fields, headers=FORM
    )
    assert reply.status_code == status


async def test_an_answer_sent_twice_is_one_and_another_one_changes_nothing(world: World) -> None:
    worker = Worker(world, await added(world, sends=2))
    await worker.begins()
    await worker.opens()
    form = worker.hidden() | {"quality_overall": "a"}
    for label, notice in (("a", ""), ("a", ""), ("b", "?notice=twice")):
        reply = await worker.send("POST", "/answer", data=form | {"quality_overall": label}, headers=FORM)
        assert reply.headers["location"] == worker.study.link + notice
    async with AsyncClient(str(world.http.base_url)) as client:
        [answer] = await client.study_answers(worker.study.id)
    assert answer.labels["quality_overall"] == ("b" if answer.reversed else "a")


async def test_somebody_else_is_given_what_a_worker_left(world: World, later: list[timedelta]) -> None:
    study = await added(world, workers_per_pair=1, minutes=10)
    slow, fast = Worker(world, study), Worker(world, study)
    await slow.begins()
    await slow.opens()
    form = slow.hidden() | {"quality_overall": "a"}
    await fast.begins()
    assert "nothing to answer at the moment" in await fast.opens()
    later[0] = timedelta(minutes=11)
    assert "Item 1 of" in await fast.opens()
    late = await slow.send("POST", "/answer", data=form, headers=FORM)
    assert late.headers["location"].endswith("?notice=late")
    assert (await fast.answers()).status_code == 303
    async with AsyncClient(str(world.http.base_url)) as client:
        assert len(await client.study_answers(study.id)) == 1


async def test_while_the_database_is_away_an_answer_is_kept_on_the_page(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(world, await added(world))
    await worker.begins()
    await worker.opens()
    form = worker.hidden() | {"quality_overall": "a"}

    async def away(*_: object) -> None:
        raise Outage(Reason.STORE_UNAVAILABLE, "the database does not answer", admin_detail="host 10.0.0.7")

    with monkeypatch.context() as patched:
        patched.setattr(StudyTasks, "answer", away)
        reply = await worker.send("POST", "/answer", data=form, headers=FORM)
    assert (reply.status_code, "retry-after" in reply.headers) == (503, True)
    assert "Nothing is lost" in worker.page
    assert "10.0.0.7" not in worker.page
    assert worker.hidden() == form
    again = await worker.send("POST", "/answer", data=worker.hidden(), headers=FORM)
    assert again.status_code == 303
    async with AsyncClient(str(world.http.base_url)) as client:
        assert len(await client.study_answers(worker.study.id)) == 1


async def test_a_worker_withdraws_and_nothing_is_left(world: World) -> None:
    worker = Worker(world, await added(world, sends=2))
    await worker.begins("p1")
    await worker.answers()
    await worker.opens()
    reply = await worker.send("POST", "/withdraw", data={"csrf": worker.hidden()["csrf"]}, headers=FORM)
    assert (reply.status_code, COOKIE in reply.headers["set-cookie"]) == (303, True)
    async with AsyncClient(str(world.http.base_url)) as client:
        assert await client.study_workers(worker.study.id) == []
        assert await client.study_answers(worker.study.id) == []


async def test_who_may_not_begin_is_told_why(world: World) -> None:
    study = await added(world, most_workers=1)
    first = Worker(world, study)
    refused = await first.send("POST", "/begin", data={"lang": "en"}, headers=FORM)
    assert refused.status_code == 422  # did not agree
    assert (await first.begins("p1")).headers["location"] == study.link
    assert (await first.begins("p1")).headers["location"] == study.link  # sent twice
    for participant, notice in (("p1", "begun"), ("p2", "full")):
        reply = await Worker(world, study).begins(participant)
        assert f"notice={notice}" in reply.headers["location"]
    assert (await Worker(world, study).begins("<script>")).status_code == 422
    async with AsyncClient(str(world.http.base_url)) as client:
        assert (await client.close_study(study.id)).result == "closed"
    assert "This study has ended" in await Worker(world, study).opens(lang="en")
    assert "notice=closed" in (await Worker(world, study).begins("p3")).headers["location"]


async def test_administrators_remove_workers_and_studies(world: World) -> None:
    study = await added(world)
    worker = Worker(world, study)
    await worker.begins()
    await worker.answers()
    async with AsyncClient(str(world.http.base_url)) as client:
        [row] = await client.study_workers(study.id)
        with pytest.raises(NotFound):
            await client.remove_worker(study.id, "w_other")
        await client.remove_worker(study.id, row.id)
        assert await client.study_answers(study.id) == []
        await client.remove_study(study.id)
        assert await client.studies() == []
        with pytest.raises(NotFound):
            await client.study_workers(study.id)
    assert (await world.http.get(study.link)).status_code == 404


async def test_a_study_that_cannot_be_is_rejected(world: World) -> None:
    for changes, problem in (
        ({"battles": ["nowhere"]}, "'nowhere' is not in arena 'demo'"),
        ({"arena": "empty"}, "arena 'empty' has none"),
        ({"languages": ["fr"]}, "texts.fr: title is missing"),
    ):
        with pytest.raises(Invalid, match=problem):
            await added(world, **changes)


async def test_a_page_of_a_study_is_in_no_frame_and_not_stored(world: World) -> None:
    study = await added(world)
    reply = await world.http.get(study.link)
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
    assert (reply.headers["cache-control"], reply.headers["x-robots-tag"]) == ("no-store", "noindex")
    assert datetime.now(UTC) >= study.created_at
