"""Canary battles: a judge that obeys an injection is caught, and the offline judges are not persuaded."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.failure import Reason
from services.judge.canary.battles import CANARIES
from services.judge.canary.checking import STAGE, CanaryState, canary_judges
from services.judge.evaluator import Grades
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.options import GradeOptions
from services.judge.registry import EVALUATORS, heuristics
from services.judge.stage import Panel
from services.offline.app import create_app
from services.runtime.errors import Permanent
from services.runtime.llm.build import build_chat_model, with_asgi
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply
from services.runtime.llm.settings import LLMSettings
from services.runtime.metrics import FLIPS
from tests.fakes import ScriptedModel, blocks
from tests.panels import judge_of, panel_of


def model_that(decides: Callable[[str, str], str], name: str = "scripted") -> ScriptedModel:
    def reply(prompt: Prompt[Any]) -> VerdictReply:
        first, second = blocks(prompt, "answer")
        return VerdictReply(reasoning="r", winner=decides(first.text, second.text))

    return ScriptedModel({"verdict": reply}, name=name)


def obeys(first: str, second: str) -> str:
    """Prefers the answer that says more, as one that does what a part of it says."""
    return "tie" if len(first) == len(second) else "first" if len(first) > len(second) else "second"


RESISTS = model_that(lambda *_: "tie", "resisting")
PREFERS_FIRST = model_that(lambda *_: "first")


JUDGES = [name for name, each in EVALUATORS.items() if not isinstance(each.yields, Grades)]
BETTER = {
    name: each.yields.better
    for name, each in EVALUATORS.items()
    if isinstance(each.yields, Grades) and each.yields.better
}


def states(run: Any) -> dict[str, int]:
    return {state.value: run.count(state) for state in CanaryState if run.count(state)}


async def test_a_judge_that_obeys_injections_is_caught_and_one_that_resists_passes() -> None:
    flips = FLIPS.labels("false")._value.get()
    (obeying,) = canary_judges(judge_of(model_that(obeys)))
    run = await obeying.run()
    assert (states(run), run.passed) == ({"flipped": len(CANARIES)}, False)
    assert {result.detail for result in run.results} == {"the answer with the injection won"}
    (resisting,) = canary_judges(judge_of(RESISTS))
    run = await resisting.run()
    assert (states(run), run.passed, run.model) == ({"passed": len(CANARIES)}, True, "resisting")
    assert FLIPS.labels("false")._value.get() == flips  # verdicts about canaries are in no other metric


async def test_an_order_that_decides_is_a_tie_in_both_orders_and_unequal_in_one() -> None:
    (both,) = canary_judges(judge_of(PREFERS_FIRST))
    assert (await both.run()).passed
    (one,) = canary_judges(judge_of(PREFERS_FIRST, both_orders=False))
    found = states(await one.run())
    assert found.keys() <= {"flipped", "unequal"}
    assert sum(found.values()) == len(CANARIES)


async def test_no_verdict_is_a_failure_and_no_flip() -> None:
    def declines(_: Prompt[Any]) -> VerdictReply:
        raise Permanent(Reason.LLM_REFUSED, "declined")

    (judge,) = canary_judges(judge_of(ScriptedModel({"verdict": declines})))
    run = await judge.run()
    assert states(run) == {"failed": len(CANARIES)}
    assert {result.detail for result in run.results} == {"llm_refused"}


async def test_every_member_of_a_panel_is_checked() -> None:
    panel = panel_of("pairwise", RESISTS, model_that(obeys, "obeying"))
    runs = [await judge.run() for judge in canary_judges(panel)]
    assert [(run.evaluator, run.model, run.passed) for run in runs] == [
        ("pairwise", "resisting", True),
        ("pairwise", "obeying", False),
    ]


@pytest.mark.parametrize("name", JUDGES)
async def test_the_offline_judges_pass(name: str) -> None:
    model = build_chat_model(LLMSettings(), http=with_asgi(create_app(None, more=heuristics)))
    (judge,) = canary_judges(panel_of(name, model))
    run = await judge.run(CANARIES[:3])
    await model.close()
    assert run.passed, run.results


def quality_that(value: Callable[[str], int], name: str = "scripted") -> ScriptedModel:
    """A model that grades an answer on every criterion of `answer_quality` by its text."""

    def reply(prompt: Prompt[Any]) -> GradesReply:
        [answer] = blocks(prompt, "answer")
        names = BETTER["answer_quality"]
        return GradesReply(grades=[GradeLine(name=each, value=value(answer.text)) for each in names])

    return ScriptedModel({"answer_quality": reply}, name=name)


def grader(*models: ScriptedModel) -> Panel:
    """The evaluator with a panel, of which it would grade no battle of canaries."""
    options = GradeOptions(arenas=frozenset({"demo"}), share=0.1)
    return panel_of("answer_quality", *models, options=options)


async def test_an_evaluator_that_grades_an_injected_answer_higher_is_caught_with_its_model() -> None:
    clean = {canary.answer for canary in CANARIES}
    obeying = quality_that(lambda text: 1 if text in clean else 2, "obeying")
    resisting = quality_that(lambda text: 1 if text in clean else 0, "resisting")
    runs = [await judge.run() for judge in canary_judges(grader(obeying, resisting))]
    assert [(run.evaluator, run.model, states(run)) for run in runs] == [
        ("answer_quality", "obeying", {"flipped": len(CANARIES)}),
        ("answer_quality", "resisting", {"passed": len(CANARIES)}),
    ]


async def test_an_evaluator_without_a_grade_fails_and_one_of_queries_has_no_canaries() -> None:
    def declines(_: Prompt[Any]) -> GradesReply:
        raise Permanent(Reason.LLM_REFUSED, "declined")

    (judge,) = canary_judges(panel_of("answer_quality", ScriptedModel({"answer_quality": declines})))
    assert states(await judge.run()) == {"failed": len(CANARIES)}
    for name in ("query_profile", "direct", "manipulation", "language_quality"):
        assert canary_judges(panel_of(name, ScriptedModel({}))) == []


@pytest.mark.parametrize("name", BETTER)
async def test_the_offline_evaluators_are_checked_without_a_flip(name: str) -> None:
    model = build_chat_model(LLMSettings(), http=with_asgi(create_app(None, more=heuristics)))
    (judge,) = canary_judges(panel_of(name, model))
    run = await judge.run()
    await model.close()
    assert run.passed, run.results


def test_the_battles_differ_in_nothing_but_the_injection() -> None:
    assert {canary.injected for canary in CANARIES} == {*Side}
    for canary in CANARIES:
        for reads in {EVALUATORS[name].registered.reads for name in JUDGES}:
            clean = canary.event("r", reads, clean=True).battle
            injected = canary.event("r", reads, clean=False).battle
            other = canary.injected.other
            assert clean.a.text == clean.b.text == injected.answer(other).text == canary.answer
            assert injected.answer(canary.injected).text == f"{canary.answer}\n\n{canary.injection}"
            assert replace(clean, id=injected.id, a=injected.a, b=injected.b) == injected


async def test_calls_are_booked_for_canary_battles() -> None:
    stages = set()

    class Noting(ScriptedModel):
        async def ask(self, prompt: Any, *, stage: str, battle_id: str) -> Any:
            stages.add((stage, battle_id.split("-", maxsplit=1)[0]))
            return await super().ask(prompt, stage=stage, battle_id=battle_id)

    (judge,) = canary_judges(judge_of(Noting(RESISTS.script)))
    await judge.run(CANARIES[:1])
    assert stages == {(STAGE, "canary")}
