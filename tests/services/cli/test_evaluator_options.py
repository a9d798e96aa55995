"""The file of options of evaluators and judges: panels, and what is rejected with its reason."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from nuggetstream.domain.grade import GradeAggregation
from nuggetstream.domain.judgment import Aggregation
from nuggetstream.domain.question_bank import BankKind
from services.cli.wiring.evaluator_options import evaluator_options
from services.cli.wiring.settings import PipelineSettings, PlatformSettings
from services.judge.grades.rubric import RubricOptions
from services.judge.options import GradeOptions, VerdictOptions
from services.judge.verdicts.utility import UtilityOptions
from services.runtime.llm.settings import LLMSettings

PRICES = '[models."known"]\ninput = 1.0\noutput = 2.0\n'


def parts(folder: Path, text: str, *, offline: bool = False) -> Any:
    (folder / "options.toml").write_text(text)
    (folder / "prices.toml").write_text(PRICES)
    llm = LLMSettings(
        model="known", base_url=None if offline else "http://model/v1", prices=folder / "prices.toml"
    )
    pipeline = PipelineSettings(evaluator_options=folder / "options.toml")
    return SimpleNamespace(pipeline=pipeline, platform=PlatformSettings(), llm=llm)


def test_a_panel_can_be_the_judge_or_an_additional_one(tmp_path: Path) -> None:
    text = (
        '[pairwise]\nmodels = ["m1", {name = "local", model = "m2"}, "m3"]\naggregation = "probabilities"\n'
        '[utility]\nshare = 0.5\nper_dimension = true\nmodels = ["m1", "m2"]\n'
        "[answer_quality]\nshare = 0.1\n"
    )
    tables = evaluator_options(parts(tmp_path, text))
    judge, utility = tables["pairwise"], tables["utility"]
    assert [(model.name, model.model) for model in judge.models] == [
        ("m1", "m1"),
        ("local", "m2"),
        ("m3", "m3"),
    ]
    assert isinstance(judge, VerdictOptions)
    assert judge.aggregation is Aggregation.PROBABILITIES
    assert isinstance(utility, UtilityOptions)
    assert utility.per_dimension
    assert tables["answer_quality"] == GradeOptions(share=0.1)


def test_a_panel_can_be_any_evaluator(tmp_path: Path) -> None:
    text = (
        '[rubric]\nshare = 0.5\nnumber = 5\nmodels = ["m1", {name = "local", model = "m2"}]\n'
        '[aspects]\nmodels = ["m1", "m2", "m3"]\naggregation = "majority"\n'
    )
    tables = evaluator_options(parts(tmp_path, text))
    rubric, aspects = tables["rubric"], tables["aspects"]
    assert [(model.name, model.model) for model in rubric.models] == [("m1", "m1"), ("local", "m2")]
    assert isinstance(rubric, RubricOptions)
    assert isinstance(aspects, GradeOptions)
    assert (rubric.aggregation, aspects.aggregation) == (GradeAggregation.MEDIAN, GradeAggregation.MAJORITY)


def test_an_evaluator_can_have_options_of_its_own(tmp_path: Path) -> None:
    text = '[rubric]\nshare = 0.5\nitems = "nuggets"\nnumber = 5\npassages = true\nverify = true\n'
    options = RubricOptions(share=0.5, items=BankKind.NUGGETS, number=5, passages=True, verify=True)
    assert evaluator_options(parts(tmp_path, text)) == {"rubric": options}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[pairwise]\nshare = 0.5\n", "pairwise: battles wait for this judge, so it has no share"),
        ("[nugget_guided]\nthreshold = 1\n", "Extra inputs are not permitted"),
        ("[utility]\nmodels = ['x', 'y']\ntie_band = 0.1\n", "this panel decides by majority"),
        ("[answer_quality]\nmodels = ['x', 'x']\n", "the models of a panel have different names"),
        ("[answer_quality]\naggregation = 'median'\n", "name several models"),
        ("[answer_quality]\nmodels = ['x', 'y']\naggregation = 'probabilities'\n", "'median' or 'majority'"),
        ("[pairwise]\nmodels = ['x', 'y']\naggregation = 'median'\n", "'majority' or 'probabilities'"),
        ("[rubric]\nmodels = ['known', 'dear']\nday_money = '1'\n", "day_money needs a price for dear"),
        ("[rubric]\nnumber = 1\n", "number"),
        ("[answer_quality]\nverify = true\n", "verify"),
        ("[politeness]\nshare = 0.5\n", "there is no evaluator politeness"),
        ("[utility]\nmodels = ['known', 'dear']\nday_money = '1'\n", "day_money needs a price for dear"),
        (f"[pairwise_documents]\nmodels = ['{'x' * 40}', '{'y' * 40}']\n", None),
    ],
)
def test_what_cannot_be_used_is_rejected_with_the_reason(
    tmp_path: Path, text: str, problem: str | None
) -> None:
    if problem is None:
        assert evaluator_options(parts(tmp_path, text))
        return
    with pytest.raises(click.ClickException, match=problem):
        evaluator_options(parts(tmp_path, text))


def test_a_dry_run_needs_no_price_of_a_member(tmp_path: Path) -> None:
    text = "[utility]\nmodels = ['x', 'y']\nday_money = '1'\n"
    assert evaluator_options(parts(tmp_path, text, offline=True))
