"""The file of options of evaluators and judges: panels, and what is rejected with its reason."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
import structlog

from nuggetstream.domain.grade import GradeAggregation
from nuggetstream.domain.judgment import Aggregation
from nuggetstream.domain.question_bank import BankKind
from services.cli.evaluator_options import (
    evaluator_options,
    options_of_grader,
    options_of_judge,
    with_tie_band_of,
)
from services.cli.settings import PipelineSettings, PlatformSettings
from services.judge.graders.citation_support import CitationOptions
from services.judge.graders.rubric import RubricOptions
from services.judge.selection import GraderOptions, JudgeOptions
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
        '[pairwise]\nmembers = ["m1", {name = "local", model = "m2"}, "m3"]\naggregation = "probabilities"\n'
        '[utility]\nshare = 0.5\nper_dimension = true\nmembers = ["m1", "m2"]\n'
        "[answer_quality]\nshare = 0.1\n"
    )
    tables = evaluator_options(parts(tmp_path, text))
    judge = options_of_judge(tables, "pairwise")
    assert [(member.name, member.model) for member in judge.members] == [
        ("m1", "m1"),
        ("local", "m2"),
        ("m3", "m3"),
    ]
    assert judge.aggregation is Aggregation.PROBABILITIES
    assert options_of_judge(tables, "utility").per_dimension
    assert tables["answer_quality"] == GraderOptions(share=0.1)
    assert options_of_judge(tables, "nugget_guided") == JudgeOptions()


def test_the_tie_band_is_that_of_the_table_or_else_of_the_setting(tmp_path: Path) -> None:
    given = parts(tmp_path, "[utility]\ntie_band = 0.2\n")
    options = options_of_judge(evaluator_options(given), "utility")
    for profile, warned in (("frugal", 0), ("live", 2)):
        given.pipeline = given.pipeline.model_copy(update={"profile": profile})
        with structlog.testing.capture_logs() as logs:
            assert with_tie_band_of(given, "utility", options, 0.1).tie_band == 0.2
            assert with_tie_band_of(given, "pairwise", JudgeOptions(), 0.1).tie_band == 0.1
            assert with_tie_band_of(given, "pairwise", JudgeOptions()).tie_band is None
        assert [log["event"] for log in logs] == ["the tie band of a judge has no effect"] * warned


def test_a_panel_that_decides_by_majority_has_no_tie_band(tmp_path: Path) -> None:
    text = '[pairwise]\nmembers = ["m1", "m2"]\n[utility]\nmembers = ["m1", "m2"]\ntie_band = 0.1\n'
    tables = evaluator_options(given := parts(tmp_path, text))
    for name, setting in (("pairwise", 0.1), ("utility", None)):
        with pytest.raises(click.ClickException, match=f"{name}: this panel decides by majority"):
            with_tie_band_of(given, name, options_of_judge(tables, name), setting)


def test_a_panel_can_be_any_evaluator(tmp_path: Path) -> None:
    text = (
        '[rubric]\nshare = 0.5\nnumber = 5\nmembers = ["m1", {name = "local", model = "m2"}]\n'
        '[aspects]\nmembers = ["m1", "m2", "m3"]\naggregation = "majority"\n'
    )
    tables = evaluator_options(parts(tmp_path, text))
    rubric, aspects = options_of_grader(tables, "rubric"), options_of_grader(tables, "aspects")
    assert [(member.name, member.model) for member in rubric.members] == [("m1", "m1"), ("local", "m2")]
    assert (rubric.aggregation, aspects.aggregation) == (GradeAggregation.MEDIAN, GradeAggregation.MAJORITY)
    assert rubric.asked == RubricOptions(number=5).asked  # members change no question
    assert isinstance(options_of_grader(tables, "citation_support"), CitationOptions)


def test_an_evaluator_can_have_options_of_its_own(tmp_path: Path) -> None:
    text = '[rubric]\nshare = 0.5\nitems = "nuggets"\nnumber = 5\npassages = true\nverify = true\n'
    options = RubricOptions(share=0.5, items=BankKind.NUGGETS, number=5, passages=True, verify=True)
    assert evaluator_options(parts(tmp_path, text)) == {"rubric": options}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[pairwise]\nshare = 0.5\n", "pairwise: battles wait for this judge, so it has no share"),
        ("[nugget_guided]\nthreshold = 1\n", "nugget_guided: it has no threshold"),
        ("[answer_quality]\nmembers = ['x']\n", "at least two members, with different names"),
        ("[answer_quality]\nmembers = ['x', 'x']\n", "at least two members, with different names"),
        ("[answer_quality]\naggregation = 'median'\n", "name its members"),
        ("[answer_quality]\nmembers = ['x', 'y']\naggregation = 'probabilities'\n", "'median' or 'majority'"),
        ("[pairwise]\nmembers = ['x', 'y']\naggregation = 'median'\n", "'majority' or 'probabilities'"),
        ("[rubric]\nmembers = ['known', 'dear']\nday_money = '1'\n", "day_money needs a price for dear"),
        ("[rubric]\nnumber = 1\n", "number"),
        ("[answer_quality]\nverify = true\n", "verify"),
        ("[politeness]\nshare = 0.5\n", "there is no evaluator politeness"),
        ("[utility]\nmembers = ['known', 'dear']\nday_money = '1'\n", "day_money needs a price for dear"),
        (f"[pairwise_documents]\nmembers = ['{'x' * 40}', '{'y' * 40}']\n", None),
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
    text = "[utility]\nmembers = ['x', 'y']\nday_money = '1'\n"
    assert evaluator_options(parts(tmp_path, text, offline=True))
