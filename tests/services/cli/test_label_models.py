"""Models that people name to label nuggets again: a client for each, and none that no budget could limit."""

from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nuggetstream.domain.failure import Reason
from services.cli.wiring import label_models
from services.runtime.errors import Permanent
from services.runtime.llm.settings import LLMSettings

PRICES = '[models."known"]\ninput = 1.0\noutput = 2.0\n[models."dear"]\ninput = 9.0\noutput = 9.0\n'


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[LLMSettings]:
    """The settings of the clients that were opened; each client is its settings."""
    settings: list[LLMSettings] = []

    def opening(keep: bool) -> Any:
        @asynccontextmanager
        async def open_model(_: Any, own: LLMSettings) -> Any:
            if keep:
                settings.append(own)
            yield own if keep else None

        return open_model

    monkeypatch.setattr(label_models, "open_chat_model", opening(True))
    monkeypatch.setattr(label_models, "open_decision_model", opening(False))
    return settings


def models(llm: LLMSettings) -> AbstractAsyncContextManager[Any]:
    parts: Any = SimpleNamespace()
    return label_models.open_label_models(parts, llm)


async def test_each_name_has_one_client_with_the_parameters_of_the_assigner(
    opened: list[LLMSettings],
) -> None:
    every = {"temperature": 0.5, "decision_model": "small"}
    llm = LLMSettings(model="known", base_url="http://model/v1", stages={"*": every})
    async with models(llm) as models_of:
        assert await models_of("other") == await models_of("other")
        await models_of("third")
    assert [own.model for own in opened] == ["other", "third"]
    asked = [(own.base_url, own.parameters.temperature, own.for_decisions().model) for own in opened]
    assert asked == [("http://model/v1", 0.5, "other"), ("http://model/v1", 0.5, "third")]


async def test_the_offline_model_has_a_name_for_each_so_that_it_is_asked_again(
    opened: list[LLMSettings],
) -> None:
    async with models(LLMSettings()) as models_of:
        await models_of("other")
    assert [own.model for own in opened] == ["offline-heuristic:other"]


async def test_a_model_without_a_price_is_rejected_where_money_is_limited(
    tmp_path: Path, opened: list[LLMSettings]
) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    llm = LLMSettings(
        model="known", base_url="http://model/v1", prices=tmp_path / "prices.toml", day_money="5"
    )
    async with models(llm) as models_of:
        await models_of("dear")
        with pytest.raises(Permanent, match="needs a price for other") as raised:
            await models_of("other")
    assert raised.value.reason is Reason.INVALID_INPUT
    assert [own.model for own in opened] == ["dear"]
