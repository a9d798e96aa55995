"""What the environment says, and what it cannot mean."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.domain.pipeline import MODEL_STAGES
from services.runtime.llm.budget import Budget, Limit
from services.runtime.llm.build import build_chat_model
from services.runtime.llm.settings import LLMSettings
from services.runtime.llm.stage_models import require_known


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for field in LLMSettings.model_fields:
        monkeypatch.delenv(f"NUGGETSTREAM_LLM_{field.upper()}", raising=False)


def test_without_key_and_url_everything_is_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    settings = LLMSettings()
    assert settings.offline
    assert settings.model_name == "offline-heuristic"
    with pytest.raises(ValueError, match="no offline application"):
        build_chat_model(settings)


def test_a_key_alone_means_the_public_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("NUGGETSTREAM_LLM_MODEL", "some-model")
    settings = LLMSettings()
    assert not settings.offline
    assert settings.url == "https://api.openai.com/v1"
    assert "secret" not in repr(settings)
    assert build_chat_model(settings).name == "some-model"


def test_our_own_names_win_over_the_public_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "public")
    monkeypatch.setenv("NUGGETSTREAM_LLM_API_KEY", "ours")
    monkeypatch.setenv("NUGGETSTREAM_LLM_BASE_URL", "http://localhost:1/v1")
    settings = LLMSettings()
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "ours"
    assert settings.url == "http://localhost:1/v1"


def test_an_endpoint_without_a_model_is_an_error() -> None:
    with pytest.raises(ValueError, match="set NUGGETSTREAM_LLM_MODEL"):
        build_chat_model(LLMSettings(base_url="http://localhost:1/v1"))


def test_a_money_budget_without_a_price_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUGGETSTREAM_LLM_DAY_MONEY", "2.5")
    settings = LLMSettings(base_url="http://localhost:1/v1", model="m-1")
    with pytest.raises(ValueError, match="needs a price for m-1"):
        build_chat_model(settings)
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."m"]\ninput = 1\noutput = 2\n')
    monkeypatch.setenv("NUGGETSTREAM_LLM_PRICES", str(prices))
    ledger = build_chat_model(LLMSettings(base_url="http://localhost:1/v1", model="m-1")).ledger
    assert ledger.budget == Budget(day=Limit(money=Decimal("2.5")))


def test_a_fallback_has_an_address_a_key_and_a_model_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    first: dict[str, Any] = {
        "base_url": "https://first.example/v1",
        "api_key": "sk-of-the-first",
        "model": "m",
    }
    settings = LLMSettings(**first, fallback={"base_url": "https://second.example/v1"})
    fallback = settings.at_fallback()
    assert fallback is not None
    assert (fallback.url, fallback.api_key, fallback.model_name) == ("https://second.example/v1", None, "m")
    monkeypatch.setenv(
        "NUGGETSTREAM_LLM_FALLBACK", '{"base_url": "http://b/v1", "api_key": "sk-2", "model": "n"}'
    )
    named = LLMSettings(**first)
    fallback = named.at_fallback()
    assert fallback is not None
    assert (fallback.secrets(), fallback.model_name, fallback.at_fallback()) == (["sk-2", "sk-2"], "n", None)
    assert "sk-2" in named.secrets()
    monkeypatch.delenv("NUGGETSTREAM_LLM_FALLBACK")
    assert LLMSettings(**first).at_fallback() is None


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"base_url": "http://a/v1", "model": "m", "fallback": {"model": "n"}}, "FALLBACK has no base_url"),
        ({"fallback": {"base_url": "http://b/v1"}}, "a fallback needs a first endpoint"),
    ],
)
def test_a_fallback_that_is_incomplete_is_an_error(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        LLMSettings(**given)


def test_a_budget_of_money_needs_the_price_of_the_fallback_as_well(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[models.m]\ninput = 1\noutput = 1\n", encoding="utf-8")
    settings = LLMSettings(
        base_url="http://a/v1", model="m", fallback={"base_url": "http://b/v1", "model": "n"},
        prices=prices, day_money="1",
    )  # fmt: skip
    with pytest.raises(ValueError, match="needs a price for n"):
        settings.price_table()


def test_a_stage_has_a_model_of_its_own_and_another_endpoint_gets_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stages = (
        '{"*": {"decision_model": "d", "temperature": "none"}, "judge": {"model": "n", "effort": "low"}, '
        '"aspects": {"base_url": "http://b/v1", "model": "o"}}'
    )
    monkeypatch.setenv("NUGGETSTREAM_LLM_STAGES", stages)
    settings = LLMSettings(base_url="http://a/v1", api_key="sk-1", model="m")
    judge, aspects = settings.for_stage("judge"), settings.for_stage("aspects")
    assert (judge.url, judge.model_name) == ("http://a/v1", "n")
    assert (judge.parameters.effort, judge.parameters.temperature) == ("low", "none")
    assert (settings.parameters.effort, settings.timeout_s) == (None, 60.0)
    assert judge.api_key is not None
    assert judge.for_decisions().model_name == "d"
    assert (aspects.url, aspects.model_name, aspects.api_key) == ("http://b/v1", "o", None)
    assert aspects.for_decisions().model_name == "o"
    assert settings.for_stage("assigner") is settings
    own = LLMSettings(base_url="http://a/v1", model="m", stages={"judge": {"api_key": "sk-of-the-judge"}})
    assert "sk-of-the-judge" in own.secrets()


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        ({"judge": {"modle": "n"}}, "no parameter modle; choose of model, decision_model, base_url"),
        ({"judge": {"effort": "lots"}}, "'none', 'minimal', 'low'"),
        ({"*": {"model": "n"}}, "of all stages are NUGGETSTREAM_LLM_MODEL"),
    ],
)
def test_a_parameter_that_does_not_exist_is_named_with_those_that_do(
    stages: dict[str, dict[str, str]], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        LLMSettings(base_url="http://a/v1", model="m", stages=stages)


def test_a_stage_that_does_not_exist_is_named_with_those_that_do() -> None:
    known = "retriever, nuggetizer, assigner, judge, aspects"
    with pytest.raises(ValueError, match=f"evaluator jugde; choose of {known}"):
        require_known(["judge", "jugde"], [*MODEL_STAGES, "aspects"])
