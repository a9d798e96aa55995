"""An additional judge and a panel in their stage: what they publish, and what an abstention is."""

from collections.abc import Callable
from typing import Any

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleFailed, BattleJudged
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.judgment import Aggregation, MemberVerdict, OrderedVerdict, VoteProbabilities
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.pipeline import Stage
from services.judge.asking import Member
from services.judge.judging import aggregate
from services.judge.options import VerdictOptions
from services.judge.registry import EVALUATORS
from services.judge.stage import Panel, build
from services.runtime.errors import ModelOutage, Permanent, Retryable
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.replies import VerdictReply, Winner
from services.store.content.blobs import Blobs
from services.store.database import Database
from services.store.outcomes.stated_outcomes import outcomes_of
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import judge_of, panel_of

EVENT = samples.retrieved(fought=samples.battle(a="short", b="much longer"))
A, B, TIE = Vote.A, Vote.B, Vote.TIE


def prefers(side: str) -> ScriptedModel:
    """A model that prefers "short" (A) or "much longer" (B) in both orders, or the answer shown first."""

    def reply(prompt: Any) -> VerdictReply:
        shown = [block.text for block in blocks(prompt, "answer")]
        text = {"a": "short", "b": "much longer", "first": shown[0]}[side]
        winner: Winner = "first" if shown[0] == text else "second"
        return VerdictReply(reasoning="So it is.", winner=winner)

    return ScriptedModel({"verdict": reply, "verdict_guided": reply}, name=f"model {side}")


def failing(error: Callable[[], Exception]) -> ScriptedModel:
    def reply(prompt: Any) -> VerdictReply:
        raise error()

    return ScriptedModel({"verdict": reply}, name="silent")


def declined() -> Exception:
    return Permanent(Reason.LLM_REFUSED, "declined")


def panel(*models: ScriptedModel, **options: Any) -> Panel:
    return judge_of(*models, options=VerdictOptions(**options))


async def run(judge: Panel, event: Any = EVENT) -> BattleJudged:
    (out,) = await judge(event)
    assert isinstance(out, BattleJudged)
    return out


async def test_a_guided_verdict_has_a_lens_of_its_own_and_shows_the_labels_of_each_order() -> None:
    battle = samples.battle(a="short", b="much longer")
    model = prefers("b")
    judged = await run(panel_of("nugget_guided", model), samples.assigned(2, 1, of=2, fought=battle))
    tables = [blocks(prompt, "labels")[0].text for prompt in model.asked]
    assert tables == [
        "n1 vital: first yes, second yes\nn2 vital: first yes, second no",
        "n1 vital: first yes, second yes\nn2 vital: first no, second yes",
    ]
    assert blocks(model.asked[0], "chunk") == []
    assert (judged.judgment.winner, judged.judgment.lens) == (B, Lens.GUIDED)
    (outcome,) = outcomes_of(judged, samples.NOON)
    assert (outcome.source, outcome.lens, outcome.winner) == ("guided:nugget_guided", Lens.GUIDED, B)


@pytest.mark.parametrize(
    "event",
    [
        samples.assigned(0, 0, of=0),
        samples.assigned(1, 1, of=1, fought=samples.battle(a="", b=" ")),
    ],
    ids=["without nuggets", "without answers"],
)
async def test_a_guided_judge_with_nothing_to_judge_says_nothing(event: Any) -> None:
    assert await panel_of("nugget_guided", ScriptedModel({}))(event) == []


async def test_an_additional_judge_skips_what_it_is_not_to_see_and_its_failures_are_its_own(
    record: Database,
) -> None:
    judge = panel_of("pairwise", ScriptedModel({}), options=VerdictOptions(arenas=frozenset({"other"})))
    assert await judge(EVENT) == []
    stage = build(judge, Blobs(record))
    assert stage.label == stage.consumer.durable == "grader-pairwise" == judge.stage
    (failed,) = stage.give_up(EVENT, StageFailure(Stage.GRADER, Reason.LLM_REFUSED, "declined"))
    assert isinstance(failed, BattleFailed)
    assert (failed.failure.stage, failed.failure.evaluator) == (Stage.GRADER, "pairwise")


async def test_a_panel_has_the_verdict_of_its_majority_and_an_outcome_per_member() -> None:
    judged = await run(panel(prefers("a"), prefers("b"), prefers("b")))
    judgment = judged.judgment
    assert (judgment.winner, judgment.flipped, judgment.verdicts) == (B, None, ())
    assert judgment.model == "model a-2026, model b-2026, model b-2026"
    assert [(member.name, member.winner, member.flipped) for member in judgment.members] == [
        ("m0", A, False),
        ("m1", B, False),
        ("m2", B, False),
    ]
    assert [(o.source, o.lens, o.winner) for o in outcomes_of(judged, samples.NOON)] == [
        ("judge:pairwise", Lens.JUDGE, B),
        ("member:pairwise/m0", Lens.MEMBER, A),
        ("member:pairwise/m1", Lens.MEMBER, B),
        ("member:pairwise/m2", Lens.MEMBER, B),
    ]


async def test_a_flip_of_a_member_is_its_tie_and_a_split_panel_is_tied() -> None:
    judgment = (await run(panel(prefers("first"), prefers("b"), prefers("a")))).judgment
    assert judgment.members[0].flipped is True
    assert [member.winner for member in judgment.members] == [TIE, B, A]
    assert judgment.winner is TIE


@pytest.mark.parametrize(
    "error",
    [declined, lambda: Retryable(Reason.REPLY_UNUSABLE, "unusable")],
    ids=["declined", "unusable"],
)
async def test_an_abstention_is_counted_and_is_no_tie(error: Callable[[], Exception]) -> None:
    judged = await run(panel(prefers("a"), failing(error), prefers("a")))
    assert (judged.judgment.winner, judged.judgment.abstentions) == (A, 1)
    silent = judged.judgment.members[1]
    assert (silent.winner, silent.abstention is not None, silent.model) == (None, True, "silent")
    sources = [outcome.source for outcome in outcomes_of(judged, samples.NOON)]
    assert sources == ["judge:pairwise", "member:pairwise/m0", "member:pairwise/m2"]


async def test_a_panel_of_which_half_abstains_has_no_verdict() -> None:
    with pytest.raises(Permanent, match="1 of 2 members of the panel abstained") as raised:
        await run(panel(prefers("a"), failing(declined)))
    assert raised.value.reason is Reason.LLM_REFUSED


async def test_a_member_whose_model_is_away_is_waited_for() -> None:
    away = failing(lambda: ModelOutage(Reason.LLM_UNAVAILABLE, "no answer", patience=1.0))
    with pytest.raises(ModelOutage):
        await run(panel(prefers("a"), prefers("a"), away))


def said(name: str, winner: Vote, a: float | None = None) -> MemberVerdict:
    told = None if a is None else VoteProbabilities(a=a, b=0.9 - a, tie=0.1)
    return MemberVerdict(
        name=name,
        model=name,
        winner=winner,
        flipped=None,
        verdicts=(OrderedVerdict(Side.A, winner, None, told),),
    )


def test_probabilities_decide_where_all_who_voted_told_them_and_else_the_majority() -> None:
    members = [said("x", B, 0.4), said("y", B, 0.4), said("z", A, 0.85)]
    assert aggregate(members, Aggregation.PROBABILITIES) == (A, Aggregation.PROBABILITIES)
    assert aggregate(members, Aggregation.MAJORITY) == (B, Aggregation.MAJORITY)
    untold = [*members, said("w", B)]
    assert aggregate(untold, Aggregation.PROBABILITIES) == (B, Aggregation.MAJORITY)
    even = [said("x", A, 0.5), said("y", B, 0.4)]
    assert aggregate(even, Aggregation.PROBABILITIES) == (TIE, Aggregation.PROBABILITIES)


async def test_members_are_asked_for_decisions_where_the_profile_asks_for_them() -> None:
    shares = {"f": 0.2, "s": 0.7, "t": 0.1}
    decides = ScriptedModel(
        {
            "verdict_decision": lambda prompt: DecisionReply(
                answers=[Answer(name="better", letter="s", probabilities=shares)]
            )
        }
    )
    options = VerdictOptions(models=("x", "y", "z"), aggregation=Aggregation.PROBABILITIES)
    models = [ScriptedModel({})] * 3
    judgment = (await run(judge_of(*models, decisions=decides, options=options))).judgment
    assert (judgment.winner, judgment.aggregation) == (TIE, Aggregation.PROBABILITIES)
    assert judgment.probabilities == VoteProbabilities(
        a=pytest.approx(0.45), b=pytest.approx(0.45), tie=pytest.approx(0.1)
    )


@pytest.mark.parametrize(("band", "winner"), [(0.1, B), (0.5, TIE)])
async def test_the_tie_band_of_a_panel_applies_to_its_mean_probabilities(band: float, winner: Vote) -> None:
    def decides(name: str, b: float) -> ScriptedModel:
        def reply(prompt: Any) -> DecisionReply:
            first_is_a = blocks(prompt, "answer")[0].text == "short"
            shares = {"f": 0.9 - b if first_is_a else b, "s": b if first_is_a else 0.9 - b, "t": 0.1}
            letter = max(shares, key=shares.__getitem__)
            return DecisionReply(answers=[Answer(name="better", letter=letter, probabilities=shares)])

        return ScriptedModel({"verdict_decision": reply}, name=name)

    told = (("x", 0.7), ("y", 0.5))
    members = [Member(ScriptedModel({}), decides(name, b), name) for name, b in told]
    event = samples.retrieved(1, fought=samples.battle(a="short", b="much longer"))
    for tie_band, expected in ((band, winner), (None, B)):
        options = VerdictOptions(models=("x", "y"), aggregation=Aggregation.PROBABILITIES, tie_band=tie_band)
        judge = Panel(EVALUATORS["pairwise"], members, options)
        judgment = (await run(judge, event)).judgment
        assert (judgment.winner, judgment.tie_band) == (expected, tie_band)


def test_options_are_part_of_what_was_asked_and_the_selection_is_not() -> None:
    assert VerdictOptions(tie_band=0.1).asked != VerdictOptions().asked == ""
    assert VerdictOptions(share=0.5).asked == ""


async def test_other_options_models_or_orders_give_other_keys() -> None:
    judges = [
        panel(prefers("a"), prefers("a")),
        panel(prefers("a"), prefers("b"), prefers("a")),
        panel(prefers("a"), prefers("a"), models=("x", "y"), aggregation=Aggregation.PROBABILITIES),
    ]
    keys = {(await run(judge)).key for judge in judges}
    assert len(keys) == 3
    assert (await run(judges[0])).key in keys


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"models": ["x"], "aggregation": "majority"}, "name several models"),
        ({"models": ["x", {"model": "y", "name": "x"}]}, "different names"),
        ({"aggregation": "majority"}, "name several models"),
        ({"models": ["x", ""]}, "at least 1 character"),
        ({"models": ["x", "y"], "tie_band": 0.1}, "this panel decides by majority"),
    ],
)
def test_a_panel_that_is_none_is_rejected(table: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        VerdictOptions.model_validate(table)
