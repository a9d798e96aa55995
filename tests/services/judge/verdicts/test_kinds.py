"""What each kind of judge shows and asks, and RAGElo's recorded verdicts read by the live parser."""

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleJudged, BattleRetrieved
from nuggetstream.domain.judgment import DimensionVerdict, Judgment
from nuggetstream.files.verdicts import parse_verdict
from services.judge.grades import retrieval_relevance
from services.judge.grades.lines import GradeLine, GradesReply
from services.judge.registry import EVALUATORS
from services.judge.verdicts.utility import DIMENSIONS, DimensionLine, UtilityReply
from services.runtime.llm.parsing import read_reply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import panel_of

DOCUMENTS, UTILITY = EVALUATORS["pairwise_documents"], EVALUATORS["utility"]
EVENT = samples.retrieved(3, fought=samples.battle(a="Leaves [1].", b="A drink [2], mostly."))
RELEVANCE = {"c1": 2, "c2": 0, "c3": 1}


def documents_model(verdict: Any = None) -> ScriptedModel:
    def relevance(prompt: Prompt[Any]) -> GradesReply:
        ids = [block.id for block in blocks(prompt, "chunk")]
        return GradesReply(grades=[GradeLine(name=c, value=RELEVANCE[c], reason="So it is.") for c in ids])

    tie = VerdictReply(reasoning="Both.", winner="tie")
    said = verdict or (lambda prompt: tie)
    return ScriptedModel({"retrieval_relevance": relevance, "verdict_documents": said})


async def judged(model: ScriptedModel, kind: Any, event: BattleRetrieved = EVENT, **options: Any) -> Judgment:
    (out,) = await panel_of(kind, model, options=kind.option_type(**options))(event)
    assert isinstance(out, BattleJudged)
    return out.judgment


async def test_documents_at_the_threshold_are_shown_with_their_relevance_and_owner() -> None:
    model = documents_model()
    judgment = await judged(model, DOCUMENTS)
    assert model.tasks() == ["retrieval_relevance", "verdict_documents", "verdict_documents"]
    graded, first, second = model.asked
    shared = retrieval_relevance.ASKED.prompt(
        EVENT.battle.query, {f"c{n}": chunk.text for n, chunk in enumerate(EVENT.evidence, start=1)}
    )
    assert graded.cache_key("m") == shared.cache_key("m")
    assert [block.text for block in blocks(first, "chunk")] == ["Passage number 1.", "Passage number 3."]
    assert blocks(first, "relevance")[0].text == "c1 2: So it is.\nc2 1: So it is."
    assert blocks(first, "sources")[0].text == "first: c1, c2\nsecond: none"
    assert blocks(second, "sources")[0].text == "first: none\nsecond: c1, c2"
    assert judgment.prompt_version == f"{graded.version}+{first.version}"


@pytest.mark.parametrize(("threshold", "shown"), [(0, 3), (1, 2), (2, 1)])
async def test_the_threshold_decides_how_many_are_shown(threshold: int, shown: int) -> None:
    model = documents_model()
    await judged(model, DOCUMENTS, threshold=threshold)
    assert len(blocks(model.asked[1], "chunk")) == shown


async def test_factors_and_citation_marks_are_a_choice() -> None:
    model = documents_model()
    await judged(model, DOCUMENTS, factors="brevity {and} wit", citations=False)
    prompt = model.asked[1]
    assert "these factors: brevity {and} wit." in prompt.instructions
    assert [block.text for block in blocks(prompt, "answer")] == ["Leaves.", "A drink, mostly."]
    kept = documents_model()
    await judged(kept, DOCUMENTS)
    assert [block.text for block in blocks(kept.asked[1], "answer")] == [
        "Leaves [1].",
        "A drink [2], mostly.",
    ]


async def test_without_retrieved_documents_nothing_is_graded_and_the_answers_are_compared() -> None:
    model = documents_model()
    assert (await judged(model, DOCUMENTS, replace(EVENT, evidence=()))).winner is Vote.TIE
    assert model.tasks() == ["verdict_documents"] * 2


def utility_model(overall_of: str = "A drink [2], mostly.") -> ScriptedModel:
    """Prefers the answer shown first in every dimension but overall, where it prefers one answer."""

    def reply(prompt: Prompt[Any]) -> UtilityReply:
        shown = [block.text for block in blocks(prompt, "answer")]
        overall = "first" if shown[0] == overall_of else "second"
        asked = [line.partition(":")[0] for line in blocks(prompt, "dimensions")[0].text.splitlines()]
        lines = [
            DimensionLine(dimension=name, winner=overall if name == "quality_overall" else "first")
            for name in asked
        ]
        return UtilityReply(reasoning="Because.", verdicts=lines)

    return ScriptedModel({"utility": reply})


@pytest.mark.parametrize(("per_dimension", "calls"), [(False, 2), (True, 14)])
async def test_utility_is_judged_in_seven_dimensions_and_both_orders(per_dimension: bool, calls: int) -> None:
    model = utility_model()
    judgment = await judged(model, UTILITY, per_dimension=per_dimension)
    assert len(model.asked) == calls
    assert (judgment.winner, judgment.flipped) == (Vote.B, False)
    assert [part.dimension for part in judgment.dimensions] == list(DIMENSIONS)
    assert {part.winner for part in judgment.dimensions[:-1]} == {Vote.TIE}  # they flipped with the order
    assert judgment.dimensions[-1] == DimensionVerdict("quality_overall", Vote.B)
    assert {part.winner for part in judgment.verdicts[0].dimensions[:-1]} == {Vote.A}


async def test_a_dimension_that_is_missing_or_unknown_is_no_reply() -> None:
    def reply(prompt: Prompt[Any]) -> UtilityReply:
        return UtilityReply(reasoning="", verdicts=[DimensionLine(dimension="charm", winner="first")])

    with pytest.raises(ValueError, match="charm"):
        await judged(ScriptedModel({"utility": reply}), UTILITY)


async def test_the_recorded_verdicts_of_ragelo_are_read_by_the_live_parser(recorded_data: Path) -> None:
    """200 recorded replies, as the reasoning and the winner of replies to this judge: 80 A, 94 B, 26 ties."""
    words = {Vote.A: "first", Vote.B: "second", Vote.TIE: "tie"}
    letters = {Vote.A: "A", Vote.B: "B", Vote.TIE: "C"}
    counts: Counter[Vote] = Counter()
    with (recorded_data / "ragelo" / "pairwise_answers_evaluations.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        recorded = list(csv.DictReader(file))
    for row in recorded:
        text = json.dumps({"reasoning": row["raw_answer"], "winner": words[parse_verdict(row["raw_answer"])]})
        model = documents_model(lambda prompt, text=text: read_reply(text, prompt))
        judge = panel_of(DOCUMENTS, model, both_orders=False)
        (out,) = await judge(replace(EVENT, key=_key_with_a_first()))
        assert isinstance(out, BattleJudged)
        judgment = out.judgment
        assert judgment.verdicts[0].reasoning == row["raw_answer"].strip()
        assert letters[judgment.winner] == row["answer"]
        counts[judgment.winner] += 1
    assert counts == {Vote.A: 80, Vote.B: 94, Vote.TIE: 26}


def _key_with_a_first() -> str:
    """A key whose seeded order shows the answer of A first."""

    return next(key for key in map(str, range(99)) if Random(key).choice(list(Side)) is Side.A)
