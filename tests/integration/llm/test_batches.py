"""Calls that wait for batches: what fails is asked again, and what was uploaded is found again."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from nuggetstream.domain.failure import Reason
from services.offline.answers import ParsedPrompt, answer
from services.offline.app import create_app
from services.offline.batches import BatchServer
from services.offline.errors import api_error
from services.offline.faults import Faults
from services.offline.requests import ChatRequest
from services.offline.serve import running
from services.runtime.errors import Permanent
from services.runtime.llm.batches import transport
from services.runtime.llm.batches.api import BatchAPI
from services.runtime.llm.batches.records import Records
from services.runtime.llm.batches.transport import Batches
from services.runtime.llm.build import build_chat_model
from services.runtime.llm.client import LLMClient
from services.runtime.llm.model import Reply
from services.runtime.llm.sdk import sdk_of
from services.runtime.llm.settings import LLMSettings
from tests.integration.llm.conftest import assignment


@dataclass
class Provider:
    """A provider with batches, which counts its answers by prompt; `broken` replies are useless."""

    faults: Faults
    broken: int = 0
    answered: Counter[str] = field(default_factory=Counter)

    def reply(self, chat: ChatRequest) -> BaseModel | str:
        self.answered[chat.text] += 1
        if self.answered.total() <= self.broken:
            return "no"
        return answer(chat.task, ParsedPrompt.read(chat.first_message("user"), None))

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[LLMSettings]:
        async with running(create_app(None, self.faults, reply_to=self.reply)) as url:
            yield LLMSettings(api_key=SecretStr("sk-test"), base_url=url, model="m")


@dataclass
class Asking:
    """A client whose calls wait for batches, and what it told."""

    model: LLMClient
    told: list[str]
    batches: Batches

    def uploads(self) -> list[int]:
        """The sizes of the batches."""
        return [int(line.split()[2]) for line in self.told if line.endswith("uploaded")]

    async def ask(self, number: int) -> Reply[Any]:
        prompt = assignment(f"It is {number} metres tall.")
        return await self.model.ask(prompt, stage="assigner", battle_id=f"b{number}")

    async def ask_all(self, count: int) -> list[Any]:
        return await asyncio.gather(*map(self.ask, range(count)), return_exceptions=True)


@asynccontextmanager
async def asking(settings: LLMSettings, folder: Path) -> AsyncIterator[Asking]:
    told: list[str] = []
    batches = Batches(folder, told.append, quiet_s=0.1, poll_s=0.02)
    async with batches.running():
        model = build_chat_model(settings, http=batches.http(settings), batched=True)
        yield Asking(model, told, batches)
        await model.close()


async def test_calls_become_one_batch(tmp_path: Path) -> None:
    provider = Provider(Faults())
    async with provider.serving() as settings, asking(settings, tmp_path) as asks:
        replies = await asks.ask_all(20)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert asks.uploads() == [20]
    assert asks.told[-1].endswith("20 of 20 requests answered, 0 failed")


async def test_what_expires_or_fails_becomes_part_of_a_later_batch(tmp_path: Path) -> None:
    faults = Faults(seed=3, rate_limited=0.1, server_error=0.1, dropped=0.1, batch_expired=0.5)
    provider = Provider(faults)
    async with provider.serving() as settings, asking(settings, tmp_path) as asks:
        replies = await asks.ask_all(40)
    failed = [reply for reply in replies if not isinstance(reply, Reply)]
    assert len(asks.uploads()) > 1
    assert len(failed) < 20
    assert {(type(error), error.reason) for error in failed} <= {(Permanent, Reason.LLM_UNAVAILABLE)}


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (Faults(server_error=1.0), "500"),
        (Faults(batch_expired=1.0), "batch_expired"),
        (Faults(batch_failed=1.0), "the batch cannot be processed now"),
    ],
)
async def test_a_call_fails_with_a_reason_after_three_batches(
    tmp_path: Path, faults: Faults, said: str
) -> None:
    provider = Provider(faults)
    async with provider.serving() as settings, asking(settings, tmp_path) as asks:
        [error] = await asks.ask_all(1)
    assert isinstance(error, Permanent)
    assert error.reason is Reason.LLM_UNAVAILABLE
    assert said in (error.admin_detail or "")
    assert asks.uploads() == [1, 1, 1]
    assert not provider.answered


async def test_batches_shrink_to_what_the_endpoint_takes(tmp_path: Path) -> None:
    provider = Provider(Faults(batch_tokens=2000))  # between five and ten of these requests
    async with provider.serving() as settings, asking(settings, tmp_path) as asks:
        replies = await asks.ask_all(20)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert set(provider.answered.values()) == {1}
    assert asks.uploads() == [20, 10, 5, 5, 5, 5]


async def test_a_repair_is_part_of_the_next_batch(tmp_path: Path) -> None:
    provider = Provider(Faults(), broken=1)
    async with provider.serving() as settings, asking(settings, tmp_path) as asks:
        await asks.ask(1)
    assert asks.uploads() == [1, 1]
    assert len(provider.answered) == 2


async def test_two_useless_replies_are_final(tmp_path: Path) -> None:
    provider = Provider(Faults(), broken=2)
    async with provider.serving() as settings, asking(settings, tmp_path) as asks:
        with pytest.raises(Permanent) as caught:
            await asks.ask(1)
    assert caught.value.reason is Reason.REPLY_UNUSABLE


@pytest.mark.parametrize("knows_id", [True, False])
async def test_a_later_process_finds_the_batch_and_pays_nothing(tmp_path: Path, knows_id: bool) -> None:
    provider = Provider(Faults(batch_s=0.2))
    async with provider.serving() as settings:
        async with asking(settings, tmp_path) as first:
            calls = [asyncio.create_task(first.ask(number)) for number in range(3)]
            while not first.uploads():
                await asyncio.sleep(0.01)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            spent = await first.model.ledger.for_day()
        assert spent.calls == 0
        [record] = Records(tmp_path).read()
        if not knows_id:  # killed between the creation of the batch and its reply
            record.batch = None
            Records(tmp_path).save(record)
        async with asking(settings, tmp_path) as second:
            replies = await second.ask_all(4)
            spent = await second.model.ledger.for_day()
    assert all(isinstance(reply, Reply) for reply in replies)
    assert second.uploads() == [1]
    assert set(provider.answered.values()) == {1}
    assert spent.calls == 4


@pytest.mark.parametrize("has_list", [True, False])
async def test_requests_whose_batch_was_never_created_are_found_at_the_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_list: bool
) -> None:
    if not has_list:
        monkeypatch.setattr(BatchServer, "list_files", lambda *_: api_error(405, "files are not listed"))
    provider, is_uploaded = Provider(Faults()), asyncio.Event()

    class Killed(BatchAPI):
        async def _begun(self, *_: object) -> str:
            is_uploaded.set()
            return await asyncio.Future()

    async with provider.serving() as settings:
        with monkeypatch.context() as patch:
            patch.setattr(transport, "BatchAPI", Killed)
            async with asking(settings, tmp_path) as first:
                calls = [asyncio.create_task(first.ask(number)) for number in range(3)]
                await asyncio.wait_for(is_uploaded.wait(), 60)
                for call in calls:
                    call.cancel()
                await asyncio.gather(*calls, return_exceptions=True)
        async with asking(settings, tmp_path) as second:
            replies = await second.ask_all(3)
            await second.batches.finish()
        if has_list:
            async with sdk_of(settings, None, 10.0) as client:
                assert [file.id async for file in client.files.list(purpose="batch")] == []
    assert all(isinstance(reply, Reply) for reply in replies)
    assert second.uploads() == ([] if has_list else [3])
    assert set(provider.answered.values()) == {1}


async def test_a_batch_that_does_not_exist_is_uploaded_again(tmp_path: Path) -> None:
    provider = Provider(Faults(batch_s=5.0))
    async with provider.serving() as settings, asking(settings, tmp_path) as first:
        call = asyncio.create_task(first.ask(0))
        while not first.uploads():
            await asyncio.sleep(0.01)
        call.cancel()
    other = Provider(Faults())  # whose batches are others
    async with other.serving() as settings:
        [record] = Records(tmp_path).read()
        record.endpoint, record.batch = str(settings.base_url) + "/", "batch_77"
        Records(tmp_path).save(record)
        async with asking(settings, tmp_path) as second:
            await second.ask(0)
    assert second.uploads() == [1]
