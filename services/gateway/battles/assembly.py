"""The views of a battle from its database rows and recorded events.

    a row, the accepted battle, its events  ->  BattleView, BattleSummary, FailureView

The functions are pure, so JSON, pages and tests show the same battle.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import (
    BattleEvent,
    BattleFailed,
    BattleGraded,
    BattleJudged,
    BattleSubmitted,
)
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.domain.offline import any_offline
from nuggetstream.domain.pipeline import BRANCHES, PIPELINE, Stage, predecessor
from nuggetstream.domain.progress import Branch
from nuggetstream.domain.snapshot import snapshot_of
from nuggetstream.nuggets.explanation import explain
from nuggetstream.nuggets.history import steps_of
from nuggetstream.views.battles import (
    AnswerView,
    BattleSummary,
    BattleView,
    FailureView,
    Preferences,
    StepView,
)
from nuggetstream.views.votes import HumanVoteView
from services.gateway.battles.flags import flag_views
from services.gateway.battles.grades import grading_views
from services.gateway.battles.sources import evidence_views, source_views
from services.gateway.battles.verdicts import (
    grounded_verdict_view,
    judgment_views,
    nugget_verdict_view,
    nugget_views,
)
from services.store.battles.battles import BattleRow
from services.store.battles.event_reading import RecordedEvent
from services.store.outcomes.outcome import Outcome
from services.wire.codec import decode, schema_of

# The stages in order, each with the event that completes it.
_STEPS = {stage: step.publishes for stage, step in PIPELINE.items()}
_COMPLETED = {**_STEPS, Stage.GRADER: "graded"}


def assemble(
    row: BattleRow, body: bytes, recorded: Sequence[RecordedEvent], leading: Lens = Lens.NUGGET
) -> BattleView:
    """Everything known about one battle so far.

    Args:
        row: Its row.
        body: The event that submitted it, encoded.
        recorded: Its events, in the order in which they were recorded.
        leading: The preference by nuggets with which judges and people are compared.

    Raises:
        UndecodableMessage: the database holds bytes that this version's contracts cannot read.
    """
    events = [cast(BattleEvent, decode(event.schema, event.body)) for event in recorded]
    submitted = _submitted(body)
    snapshot = snapshot_of(submitted.battle, events)
    explanation = explain(snapshot, leading)
    sources = {side: source_views(snapshot, side) for side in Side}
    context = snapshot.battle.context
    return BattleView.showing(
        snapshot.battle,
        snapshot,
        row,
        turns_left_out=0 if context is None else context.left_out,
        detected_language=row.detected,
        steps=_steps(row, recorded, events),
        a=AnswerView.showing(snapshot.battle.a, sources=sources[Side.A]),
        b=AnswerView.showing(snapshot.battle.b, sources=sources[Side.B]),
        nuggets=nugget_views(snapshot, explanation),
        nugget_version=snapshot.nugget_list and snapshot.nugget_list.version,
        nugget_history=steps_of(snapshot.nugget_list.history) if snapshot.nugget_list else [],
        nugget_bank=snapshot.bank,
        nugget_verdict=nugget_verdict_view(explanation),
        undecided=explanation.undecided,
        grounded_verdict=grounded_verdict_view(explanation),
        leading=leading,
        judgments=judgment_views(snapshot.judgments),
        guided=judgment_views(snapshot.guided),
        gradings=grading_views(snapshot.gradings),
        human_vote=snapshot.vote,
        human_votes=[HumanVoteView.showing(vote) for vote in snapshot.votes],
        evidence=evidence_views(snapshot, sources),
        failures=_failures(recorded, events),
        flags=flag_views(submitted.battle, submitted.flags),
        explanation=explanation.lines,
    )


def _submitted(body: bytes) -> BattleSubmitted:
    return cast(BattleSubmitted, decode(schema_of(BattleSubmitted), body))


def summarize(
    row: BattleRow, outcomes: Sequence[Outcome], leading: Lens = Lens.NUGGET, doubt: float | None = None
) -> BattleSummary:
    """A summary of a battle; where there are several judges, the first by name counts.

    Args:
        row: Its row.
        outcomes: Its outcomes, sorted by source.
        leading: The preference by nuggets that is shown first.
        doubt: How unsure the machine is, in lists by doubt.
    """
    winners = {
        outcome.lens.value: outcome.winner
        for outcome in reversed(outcomes)
        if outcome.lens in (*INDEPENDENT, Lens.GROUNDED)
    }
    return BattleSummary.showing(
        row,
        detected_language=row.detected,
        preferences=Preferences(**winners, leading=leading),
        offline=any_offline(outcome.judge_model for outcome in outcomes),
        doubt=doubt,
    )


def stages_at_work(steps: Sequence[StepView]) -> list[Stage]:
    """The stages that a running battle waits for: they have their input and have not ended."""
    done = {step.name for step in steps if step.state is Branch.DONE}
    return [
        stage
        for step in steps
        if step.state is Branch.PENDING
        and ((before := predecessor(stage := Stage(step.name))) is None or before.value in done)
    ]


def _steps(
    row: BattleRow, recorded: Sequence[RecordedEvent], events: Sequence[BattleEvent]
) -> list[StepView]:
    pairs = list(zip(recorded, events, strict=True))
    done = {stored.name: stored.recorded_at for stored, event in reversed(pairs) if not _is_additional(event)}
    failed = {event.failure.stage for event in events if isinstance(event, BattleFailed)}
    for branch, end in BRANCHES.items():
        if getattr(row, branch) is not Branch.DONE:  # the list was edited since, or the judge runs again
            done.pop(end, None)
    return [_step(stage, row, done, failed) for stage in PIPELINE]


def _step(stage: Stage, row: BattleRow, done: Mapping[str, datetime], failed: set[Stage]) -> StepView:
    at, before = done.get(_STEPS[stage]), predecessor(stage)
    if at is None:
        return StepView(name=stage.value, state=Branch.FAILED if stage in failed else Branch.PENDING)
    start = row.received_at if before is None else done.get(_STEPS[before])
    # Two clocks, or two events recorded out of order, can put the start after the end.
    seconds = None if start is None or start > at else (at - start).total_seconds()
    return StepView(name=stage.value, state=Branch.DONE, recorded_at=at, seconds=seconds)


def _failures(recorded: Sequence[RecordedEvent], events: Sequence[BattleEvent]) -> list[FailureView]:
    """The newest failures of stages that no later run has made good."""
    last: dict[tuple[str, str | None], int] = {}
    for stored, event in zip(recorded, events, strict=True):
        if not _is_additional(event):
            last[stored.name, None] = stored.sequence
        if isinstance(event, BattleJudged):
            name = _COMPLETED[Stage.GRADER if event.judgment.additional else Stage.JUDGE]
            last[name, event.judgment.evaluator] = stored.sequence
        elif isinstance(event, BattleGraded):
            last[stored.name, event.grading.evaluator] = stored.sequence
    failed = {
        (event.failure.stage, event.failure.evaluator): (stored, event)
        for stored, event in zip(recorded, events, strict=True)
        if isinstance(event, BattleFailed)
    }
    return [
        FailureView.showing(event.failure, event, failed_at=stored.recorded_at)
        for (stage, evaluator), (stored, event) in failed.items()
        if last.get((_COMPLETED.get(stage, ""), evaluator), 0) < stored.sequence
    ]


def _is_additional(event: BattleEvent) -> bool:
    """Whether it is the verdict of a judge that no battle waits for."""
    return isinstance(event, BattleJudged) and event.judgment.additional
