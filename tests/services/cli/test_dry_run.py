"""What a file would cost: tokens multiplied to the file, and a range where only a sample was evaluated."""

from dataclasses import replace
from decimal import Decimal

import pytest

from services.cli.evaluation.dry_run import Estimate, StageCalls
from services.runtime.llm.prices import Price, PriceTable, Tokens

PRICES = PriceTable({"m": Price(input=Decimal(1), output=Decimal(2))}, "EUR")


def of(battles: int, *tokens: int, model: str = "m-large") -> Estimate:
    """An estimate from battles with so many tokens in; half as many out, in two calls of one stage."""
    sample = [{"judge": StageCalls(2, Tokens(count, count // 2))} for count in tokens]
    return Estimate(battles, sample, model, PRICES)


def test_calls_and_tokens_are_those_of_the_whole_file() -> None:
    estimate = of(30, 1_000, 2_000, 3_000)
    assert estimate.by_stage() == {"judge": StageCalls(60, Tokens(60_000, 30_000))}
    assert "together" in "\n".join(estimate.lines())


def test_a_sample_has_a_range_and_the_whole_file_has_none() -> None:
    amount, margin = of(30, 1_000_000, 2_000_000, 3_000_000).money() or (0.0, 0.0)
    # 4 EUR a battle, standard deviation 2, three of thirty without replacement
    assert amount == pytest.approx(120.0)
    assert margin == pytest.approx(1.96 * 2 / 3**0.5 * 0.9**0.5 * 30)
    assert of(3, 1_000_000, 2_000_000, 3_000_000).money() == (pytest.approx(12.0), 0.0)
    assert of(9, 1_000_000).money() == (pytest.approx(18.0), 0.0)


def test_what_is_printed_names_sample_price_and_range() -> None:
    text = "\n".join(of(30, 1_000_000, 2_000_000, 3_000_000).lines())
    assert text.startswith("Nothing was paid. 3 of 30 battles, drawn at random, were evaluated")
    assert "Cost with m-large: 120.00 EUR (95% interval 55.59 to 184.41)" in text
    assert "All battles were evaluated" in "\n".join(of(1, 7).lines())


def test_a_model_without_a_price_has_an_unknown_cost_and_no_zero() -> None:
    estimate = of(30, 1_000, model="other")
    assert estimate.money() is None
    assert "Cost with other: unknown. Set NUGGETSTREAM_LLM_PRICES" in "\n".join(estimate.lines())


def test_batches_cost_what_the_price_file_says_of_them() -> None:
    price = Price(input=Decimal(1), output=Decimal(2), batch=Decimal("0.25"))
    for prices, amount in ((PRICES, "30.00"), (PriceTable({"m": price}, "EUR"), "15.00")):
        estimate = replace(of(30, 1_000_000), prices=prices, batched=True)
        assert f"Cost with m-large in batches: {amount} EUR" in "\n".join(estimate.lines())


def with_embeddings(prices: dict[str, Price]) -> Estimate:
    embedding = StageCalls(1, Tokens(2_000_000, 0), "words", is_chat=False)
    battle = {"judge": StageCalls(2, Tokens(1_000_000, 0)), "indexer words": embedding}
    return Estimate(10, [battle], "m-large", PriceTable({**PRICES.models, **prices}, "EUR"))


def test_embeddings_are_priced_as_their_model_and_never_in_batches() -> None:
    estimate = with_embeddings({"words": Price(input=Decimal("0.25"), output=Decimal(0))})
    assert "Cost with m-large, words: 15.00 EUR" in "\n".join(estimate.lines())
    batched = "\n".join(replace(estimate, batched=True).lines())
    assert "Cost with m-large, words in batches: 10.00 EUR" in batched
    assert "Only chat models are asked in batches" in batched


def test_a_model_without_a_price_is_named_beside_the_cost_of_the_others() -> None:
    estimate = with_embeddings({})
    assert estimate.money() is None
    text = "\n".join(estimate.lines())
    assert "Cost with m-large: 10.00 EUR" in text
    assert "Cost with words: unknown, and to be added. Set NUGGETSTREAM_LLM_PRICES" in text


def test_a_battle_for_which_only_passages_were_embedded_ended_before_any_call() -> None:
    estimate = with_embeddings({})
    embedded = {"indexer words": StageCalls(1, Tokens(7, 0), "words", is_chat=False)}
    text = "\n".join(replace(estimate, sample=[*estimate.sample, embedded]).lines())
    assert "1 of them ended before any call of a chat model" in text


def test_members_of_a_panel_are_priced_as_their_models() -> None:
    member = StageCalls(2, Tokens(1_000_000, 0), "small")
    battle = {"judge": StageCalls(2, Tokens(1_000_000, 0)), "grader-utility small": member}
    prices = PriceTable(
        {
            "m": Price(input=Decimal(1), output=Decimal(2)),
            "small": Price(input=Decimal("0.5"), output=Decimal(2)),
        },
        "EUR",
    )
    assert Estimate(10, [battle], "m-large", prices).money() == (pytest.approx(15.0), 0.0)
    text = "\n".join(Estimate(10, [battle], "m-large", prices).lines())
    assert "Cost with m-large, small: 15.00 EUR" in text
    assert "grader-utility small           20      10,000,000" in text
    assert Estimate(10, [battle], "m-large", PRICES).money() is None


def test_battles_that_ended_before_any_call_are_counted() -> None:
    estimate = of(3, 1_000_000, 2_000_000)
    with_failure = Estimate(3, [*estimate.sample, {}], "m-large", PRICES)
    assert "1 of them ended before any call" in "\n".join(with_failure.lines())
    assert "ended before any call" not in "\n".join(estimate.lines())


def test_calls_that_are_counted_for_the_whole_file_are_not_multiplied() -> None:
    fixed = {"bank": StageCalls(4, Tokens(1_000_000, 0)), "judge": StageCalls(1, Tokens(1, 0))}
    estimate = replace(of(30, 1_000_000, 2_000_000, 3_000_000), fixed=fixed, unit="passages")
    assert estimate.by_stage()["bank"].calls == 4
    assert estimate.by_stage()["judge"].calls == 2 * 30 + 1
    amount, _ = estimate.money() or (0.0, 0.0)
    assert amount == pytest.approx(120.0 + 1.0, abs=1e-4)
    text = "\n".join(estimate.lines())
    assert "3 of 30 passages, drawn at random, were evaluated" in text
    assert "nugget lists" not in text
