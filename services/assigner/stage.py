"""The handler of the assigner, and its stage."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized, Event
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.nugget import Assignment, AssignmentSet, Nugget, Support
from services.assigner.prompts import VERSION, assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.client import ChatModel, Reply
from services.runtime.llm.numbering import quoted
from services.runtime.llm.replies import AssignmentReply
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.wire.stages import event_stage


@dataclass(frozen=True, slots=True)
class Assigner:
    """Labels every nugget for both answers, in parallel.

    Attributes:
        model: Chat model used for every call.
        window: Number of nuggets per call; None labels all nuggets in one call (live profile).
    """

    model: ChatModel
    window: int | None = None

    async def __call__(self, event: BattleNuggetized) -> list[Event]:
        """Label the nuggets of one battle."""
        battle, nuggets = event.battle, event.nugget_list.nuggets
        both = await asyncio.gather(*(self._one_side(battle, nuggets, side) for side in Side))
        replies = [reply for _, replies in both for reply in replies]
        version = replies[0].prompt_version if replies else VERSION
        assignment_set = AssignmentSet(
            assignments=tuple(item for assignments, _ in both for item in assignments),
            model=replies[0].model if replies else "none: both answers are empty",
            prompt_version=version,
        )
        key = derived_id(event.key, StageName.ASSIGNER, self.window, self.model.name, version)
        return [BattleAssigned(key, battle, event.nugget_list, assignment_set)]

    async def _one_side(
        self, battle: Battle, nuggets: Sequence[Nugget], side: Side
    ) -> tuple[list[Assignment], list[Reply[AssignmentReply]]]:
        answer = battle.answer(side).text
        if not answer.strip():  # an empty answer states nothing, so no model is asked
            return [Assignment(nugget.id, side, Support.NOT_SUPPORT) for nugget in nuggets], []
        size = self.window or len(nuggets)
        windows = [nuggets[start : start + size] for start in range(0, len(nuggets), size)]
        replies = await asyncio.gather(*(self._ask(battle, window, side) for window in windows))
        labelled = [
            item
            for window, reply in zip(windows, replies, strict=True)
            for item in _assignments(window, reply, side, answer)
        ]
        return labelled, list(replies)

    async def _ask(self, battle: Battle, nuggets: Sequence[Nugget], side: Side) -> Reply[AssignmentReply]:
        blocks = [Block("nugget", f"n{i}", nugget.text) for i, nugget in enumerate(nuggets, start=1)]
        prompt = assignment(battle.query, blocks, battle.answer(side).text, battle.answer(side.other).text)
        return await self.model.ask(prompt, stage=StageName.ASSIGNER.value, battle_id=battle.id)


def build(
    assigner: Assigner, blobs: Blobs, *, concurrency: int = 8, deadline: float = 180.0
) -> Stage[BattleNuggetized, Event]:
    """The stage of the assigner."""
    return event_stage(StageName.ASSIGNER, assigner, blobs, concurrency=concurrency, deadline=deadline)


def _assignments(
    nuggets: Sequence[Nugget], reply: Reply[AssignmentReply], side: Side, answer: str
) -> list[Assignment]:
    labels = {label.id: label for label in reply.value.labels}
    assignments = []
    for number, nugget in enumerate(nuggets, start=1):
        label = labels[f"n{number}"]
        support = Support(label.label)
        quote = None if support is Support.NOT_SUPPORT else quoted(answer, label.first, label.last)
        assignments.append(Assignment(nugget.id, side, support, quote))
    return assignments
