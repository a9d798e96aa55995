"""What the page of a battle is made of: marks, passages and the timeline."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.nugget import Grounding, Importance, Quotation, Support
from nuggetstream.domain.progress import BattleState, Branch
from nuggetstream.nuggets.scores import NuggetScores
from nuggetstream.views.battles import (
    AnswerView,
    BattleView,
    EvidenceView,
    FailureView,
    NuggetVerdictView,
    NuggetView,
    StepView,
)
from nuggetstream.views.calls import CallView
from nuggetstream.views.labels import LabelView
from services.gateway.pages.explanation import failure_groups
from services.gateway.pages.quotes import passage_places, passages_of, pieces_of
from services.gateway.pages.stages import timeline_of, waterfall_of
from services.store.spend.costs import CostLine
from tests.integration.gateway.world import NOW

ANSWER = "Two bulges rise. The Sun is green. It is far."
QUOTES = ("Two bulges rise.", "The Sun is green.", "It is far.")


def scores(value: float) -> NuggetScores:
    names = ("strict_vital", "strict_all", "vital", "all_score", "weighted", "strict_weighted")
    return NuggetScores(**dict.fromkeys(names, value))


def nugget(number: int, support: Support, grounding: Grounding | None = None, **more: Any) -> NuggetView:
    a, b = LabelView(support=support, quote=QUOTES[number]), LabelView(support=Support.NOT_SUPPORT)
    text = QUOTES[number]
    shared = {"id": f"n{number}", "text": text, "importance": Importance.VITAL, "grounding": grounding}
    return NuggetView(**shared, a=a, b=b, **more)


def view(*nuggets: NuggetView, **more: Any) -> BattleView:
    answer = AnswerView(system="atlas", text=ANSWER, sources=[])
    verdict = NuggetVerdictView(
        a=scores(1.0), b=scores(0.25), margin=0.75, tie_threshold=0.07, preference="a"
    )
    chunk = {"url": None, "title": None, "cited_by": [], "score": 1.0, "fetched_at": None}
    fields: dict[str, Any] = {
        "id": "x",
        "arena": "demo",
        "query": "Why?",
        "tags": [],
        "language": None,
        "state": BattleState.SCORED,
        "received_at": NOW,
        "ended_at": NOW,
        "event_count": 7,
        "steps": [],
        "a": answer,
        "b": answer,
        "nuggets": list(nuggets),
        "nugget_verdict": verdict,
        "judgments": [],
        "human_vote": None,
        "evidence": [EvidenceView(chunk_id="c1", text="Before. Two bulges rise. After.", **chunk)],
        "failures": [],
        "explanation": [],
    }
    return BattleView(**(fields | more))


@pytest.mark.parametrize(
    ("support", "grounding", "kind"),
    [
        (Support.SUPPORT, Grounding.GROUNDED, "support"),
        (Support.SUPPORT, None, "support"),
        (Support.PARTIAL_SUPPORT, Grounding.ANSWER_ONLY, "unsupported"),
        (Support.SUPPORT, Grounding.DISPUTED, "unsupported"),
        (Support.CONTRADICTION, Grounding.GROUNDED, "contradiction"),
        (Support.CONTRADICTION, Grounding.DISPUTED, "neutral"),
    ],
)
def test_a_mark_tells_a_confirmed_statement_from_a_claim_and_from_an_error(
    support: Support, grounding: Grounding | None, kind: str
) -> None:
    marked = [piece for piece in pieces_of(view(nugget(0, support, grounding)), Side.A) if piece.numbers]
    assert [(piece.text, piece.kind) for piece in marked] == [(QUOTES[0], kind)]


def test_a_sentence_that_states_a_fact_and_a_claim_is_marked_as_stating_the_fact() -> None:
    claim = nugget(0, Support.SUPPORT, Grounding.ANSWER_ONLY)
    fact = nugget(0, Support.PARTIAL_SUPPORT, Grounding.GROUNDED)
    [mark] = [piece for piece in pieces_of(view(claim, fact), Side.A) if piece.numbers]
    assert (mark.numbers, mark.kind) == ((1, 2), "partial_support")


def test_a_passage_that_shows_a_nugget_is_marked_in_its_chunk() -> None:
    quoted = Quotation(document="c1", text="Two bulges rise.")
    elsewhere = Quotation(document="answer:b", text="Before.")
    shown = view(
        nugget(1, Support.SUPPORT, Grounding.DISPUTED, quotation=elsewhere),
        nugget(0, Support.SUPPORT, Grounding.GROUNDED, quotation=quoted),
    )
    passages = passages_of(shown)
    pieces = [(piece.text, piece.numbers) for piece in passages["c1"]]
    assert pieces == [("Before. ", ()), ("Two bulges rise.", (2,)), (" After.", ())]
    assert passage_places(passages) == {2: "passage-2"}


def test_the_timeline_places_every_stage_and_adds_up_its_cost() -> None:
    def step(name: str, end: float, seconds: float | None) -> StepView:
        at = NOW + timedelta(seconds=end)
        return StepView(name=name, state=Branch.DONE, recorded_at=at, seconds=seconds)

    steps = [step("scraper", 1, 1), step("judge", 4, 2), StepView(name="indexer", state=Branch.PENDING)]
    priced = CostLine(
        stage="judge",
        model="m",
        calls=2,
        input_tokens=90,
        output_tokens=10,
        amount=Decimal("0.0015"),
        currency="USD",
    )
    changes = {"stage": "grader-aspects", "model": "local", "calls": 1, "amount": None, "currency": None}
    free = priced.model_copy(update=changes)
    timeline = timeline_of(view(steps=steps), [priced, free])
    assert [(line.name, line.begin, line.width) for line in timeline.lines] == [
        ("Fetch", 0.0, 25.0),
        ("Judge", 50.0, 50.0),
        ("aspects", None, None),
    ]
    assert [line.paid and (line.paid.calls, line.paid.cost) for line in timeline.lines] == [
        None,
        (2, "0.0015 USD"),
        (1, None),
    ]
    assert timeline.seconds == 4.0
    assert timeline.paid is not None
    assert (timeline.paid.tokens, timeline.paid.cost) == (200, "at least 0.0015 USD")


def test_failures_with_one_cause_are_told_together_with_their_calls() -> None:
    shared = {"battle_id": "x", "arena": "demo", "attempts": 2, "failed_at": NOW}
    failures = [
        FailureView(stage=stage, reason=reason, detail=reason, **shared)
        for stage, reason in (
            ("nuggetizer", "reply_unusable"),
            ("judge", "reply_unusable"),
            ("indexer", "bug"),
        )
    ]
    costs = [
        CostLine(
            stage=name, model="m", calls=calls, input_tokens=9, output_tokens=1, amount=None, currency=None
        )
        for name, calls in (("nuggetizer", 15), ("judge", 5))
    ]
    groups = failure_groups(view(failures=failures), costs)
    assert [(group.stages, group.reason.words, group.calls) for group in groups] == [
        (("nuggetizer", "judge"), "the model's replies were unusable", 20),
        (("indexer",), "Nuggetstream has an error", 0),
    ]
    assert [reason for reason in Reason if not reason.words] == []


def test_calls_stand_in_a_waterfall_from_the_first_to_the_last() -> None:
    def call(after: float, seconds: float | None) -> CallView:
        at = NOW + timedelta(seconds=after)
        fixed = {"stage": "judge", "task": "verdict", "model": "m", "attempt": 1, "repair": False}
        return CallView(**fixed, outcome="answered", at=at, seconds=seconds)

    assert waterfall_of([call(0, 1), call(1, None), call(2, 2)]) == [(0, 25), (25, 0), (50, 50)]
    assert (waterfall_of([]), waterfall_of([call(0, None)])) == ([], [(0, 0)])


def test_a_battle_without_events_or_calls_has_an_empty_timeline() -> None:
    timeline = timeline_of(view(), [])
    assert (timeline.lines, timeline.seconds, timeline.paid) == ((), None, None)
