"""Panels of evaluators on the whole platform: one member declines everything, one is severe."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from nuggetstream.client import AsyncClient
from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.failure import Reason
from nuggetstream.files.results import read_results
from nuggetstream.report.numbers.panels import compute_panels
from services.cli.evaluation.graded import graded
from services.cli.evaluation.ledger import Noted
from services.cli.evaluation.results import ResultsFile
from services.cli.wiring.embedded import Choices, Embedded, embedded
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.registry import heuristics
from services.offline.answers import ParsedPrompt
from services.offline.app import create_app
from services.offline.faults import Faults
from services.offline.serve import running
from services.runtime.llm.settings import LLMSettings
from services.store.battles.battles import Battles
from services.store.spend.costs import Costs
from services.wire.codec import decode
from tests.asgi import read_again
from tests.e2e.battles import battle
from tests.e2e.processes import clean_environment, run_command
from tests.e2e.with_model import ended

QUALITY = ("relevance", "accuracy", "completeness", "precision")
OPTIONS = """
[answer_quality]
models = ["plain", "severe", { name = "shy", model = "silent" }]

[language_quality]
models = ["plain", "silent", { name = "shy", model = "silent" }]
"""
BATTLES = 2


def severe(prompt: ParsedPrompt) -> GradesReply:
    return GradesReply(grades=[GradeLine(name=name, value=0, reason="Nothing is good.") for name in QUALITY])


class ByModel:
    """An endpoint with several models, each an application of its own, and how often each was asked."""

    def __init__(self, **apps: ASGIApp) -> None:
        self._apps = apps
        self.asked: Counter[tuple[str, str]] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await Request(scope, receive).body()
        sent = json.loads(body)
        self.asked[sent["model"], sent["response_format"]["json_schema"]["name"]] += 1

        await self._apps[sent["model"]](scope, read_again(body, receive), send)


def endpoint() -> ByModel:
    plain = create_app(None, more=heuristics)
    return ByModel(
        m=plain,
        plain=plain,
        severe=create_app(None, more=lambda: {**heuristics(), "answer_quality": severe}),
        silent=create_app(None, Faults(refusal=1.0), heuristics),
    )


def choices(folder: Path, url: str) -> Choices:
    (folder / "options.toml").write_text(OPTIONS, encoding="utf-8")
    llm = LLMSettings(api_key=SecretStr("sk-test"), base_url=url, model="m")
    pipeline = PipelineSettings(
        embedding_model="none",
        evaluator_options=folder / "options.toml",
    )
    names = ("answer_quality", "language_quality")
    return Choices(
        folder=folder / "run", pipeline=pipeline, fetch=FetchSettings(), llm=llm, grace=2.0, evaluators=names
    )


async def recorded(platform: Embedded, battle_id: str) -> list[BattleGraded]:
    events = [
        decode(each.schema, each.body) for each in await Battles(platform.database).events_of(battle_id)
    ]
    return [event for event in events if isinstance(event, BattleGraded)]


@pytest.mark.timeout(180)
async def test_members_and_panel_are_told_apart_from_the_record_to_the_report(tmp_path: Path) -> None:
    model = endpoint()
    async with (
        running(model) as url,
        embedded(choices(tmp_path, url)) as platform,
        AsyncClient(platform.url) as client,
        httpx2.AsyncClient(base_url=platform.url, timeout=90) as http,
    ):
        receipts = [await client.submit(battle(number)) for number in range(BATTLES)]
        ids = [receipt.battle_id for receipt in receipts]
        for battle_id in ids:
            await ended(client, battle_id)
        assert await graded(platform.bus, platform.evaluators, asyncio.Event())

        for battle_id in ids:  # what is recorded
            (event,) = await recorded(platform, battle_id)
            grading = event.grading
            assert (grading.evaluator, grading.model) == ("answer_quality", "plain, severe, silent")
            assert [(m.name, len(m.grades), m.abstention) for m in grading.members] == [
                ("plain", 8, None),
                ("severe", 8, None),
                ("shy", 0, Reason.LLM_REFUSED),
            ]
            plain, hard, _ = (m.grades for m in grading.members)
            assert {grade.value for grade in hard} == {0.0}
            assert any(grade.value for grade in plain)
            # The lower of two: that of the severe member, and not the zero of an abstention.
            assert [g.value for g in grading.grades] == [0.0] * 8
            stages = await Costs(platform.database).of_battle(battle_id)
            assert {each.stage for each in stages} >= {"grader-answer_quality", "grader-language_quality"}
        assert model.asked["plain", "answer_quality"] == 2 * BATTLES
        assert model.asked["severe", "answer_quality"] == 2 * BATTLES
        assert model.asked["silent", "answer_quality"] == BATTLES  # it declined the first answer
        assert model.asked["m", "answer_quality"] == 0

        view = await client.battle(ids[0])  # what clients see
        (shown,) = view.gradings
        assert (shown.aggregation, shown.abstentions, len(shown.members)) == ("median", 1, 3)
        assert shown.members[2].abstention is Reason.LLM_REFUSED
        failures = [(failure.evaluator, failure.reason, failure.detail) for failure in view.failures]
        assert failures == [("language_quality", Reason.LLM_REFUSED, "2 of 3 members of the panel abstained")]
        page = (await http.get(f"/battles/{ids[0]}")).text
        section = page[page.index('id="grades-answer_quality"') :]
        for words in (
            "Panel of 3, by median",
            "1 abstention",
            "abstained (llm refused)",
            "severe</span>: 0",
        ):
            assert words in section
        with ResultsFile(tmp_path / "out", {name: Noted(name) for name in ids}) as results:
            for battle_id in ids:
                results.add((await http.get(f"/v1/battles/{battle_id}")).json())
            results.finish([], [])

    row = json.loads((tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()[0])
    (line,) = row["gradings"]
    assert [member["abstention"] for member in line["members"]] == [None, None, "llm_refused"]
    found = compute_panels(read_results(tmp_path / "out" / "results.jsonl"))
    assert [(m.member, m.answered.count, m.abstentions) for m in found.members] == [
        ("plain", BATTLES, {}),
        ("severe", BATTLES, {}),
        ("shy", 0, {"llm_refused": BATTLES}),
    ]
    assert found.members[1].agrees.value == 1.0
    assert {each.subjects for each in found.criteria} == {2 * BATTLES}


@pytest.mark.timeout(180)
async def test_a_dry_run_counts_the_calls_of_every_member_and_prices_their_models(tmp_path: Path) -> None:
    file = tmp_path / "battles.jsonl"
    file.write_text("".join(json.dumps(battle(number)) + "\n" for number in range(BATTLES)), encoding="utf-8")
    (tmp_path / "options.toml").write_text(
        '[answer_quality]\nmodels = ["dear", "cheap", { name = "third", model = "other" }]\n',
        encoding="utf-8",
    )
    (tmp_path / "prices.toml").write_text(
        "".join(f"[models.{name}]\ninput = 1\noutput = 2\n" for name in ("dear", "cheap", "other")),
        encoding="utf-8",
    )
    environment = clean_environment(embedding_model="none") | {
        "NUGGETSTREAM_LLM_BASE_URL": "http://127.0.0.1:9/v1",  # nobody is asked
        "NUGGETSTREAM_LLM_MODEL": "dear",
        "NUGGETSTREAM_LLM_PRICES": str(tmp_path / "prices.toml"),
        "NUGGETSTREAM_EVALUATORS": "answer_quality",
        "NUGGETSTREAM_EVALUATOR_OPTIONS": str(tmp_path / "options.toml"),
    }
    code, output = await run_command(environment, "eval", str(file), "--dry-run")
    assert code == 0, output
    rows = [line.split() for line in output.splitlines()]
    calls = {row[1]: int(row[2]) for row in rows if row[:1] == ["grader-answer_quality"]}
    assert calls == dict.fromkeys(("dear", "cheap", "other"), 2 * BATTLES)
    assert "Cost with dear, cheap, other:" in output
