"""The handler of the assigner, and its stage."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.event import BattleAssigned, BattleNuggetized, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.nugget import Assignment, AssignmentSet, Nugget, NuggetList, Support
from nuggetstream.domain.pipeline import Stage as StageName
from services.assigner.decisions import VERSION as DECISION_VERSION
from services.assigner.decisions import assignment_decision, decided
from services.assigner.shared_labels import Labelled, SharedLabels
from services.runtime.errors import Permanent
from services.runtime.llm.assignment import PAPER_VERSION, VERSION, assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.conversation import in_context
from services.runtime.llm.model import ChatModel, Reply, joined
from services.runtime.llm.numbering import quoted
from services.runtime.llm.replies import AssignmentReply
from services.runtime.stage import Stage
from services.store.content.blobs import Blobs
from services.wire.stages import event_stage

ModelsOf = Callable[[str], Awaitable[tuple[ChatModel, ChatModel | None]]]
_NONE = "none: both answers are empty"
_ORIGIN = ("model", "prompt_version")  # of labels


@dataclass(frozen=True, slots=True)
class Assigner:
    """Labels every nugget for both answers, in parallel.

    Attributes:
        model: Chat model that is asked.
        window: Number of nuggets per call, 1 in the profile small; None labels all in one call.
        decisions: Model that is asked for decisions instead (profiles frugal and small). Nuggets on which it
            declines to decide are labelled by the chat model.
        shared: Labels that battles with a list of a nugget bank share; None labels every battle's own.
        models_of: Returns the models for chat and for decisions of a name, for lists that are labelled again;
            None rejects them.
        contradictions: Whether contradictions have a label of their own; not in the paper profile.
    """

    model: ChatModel
    window: int | None = None
    decisions: ChatModel | None = None
    shared: SharedLabels | None = None
    models_of: ModelsOf | None = None
    contradictions: bool = True

    async def __call__(self, event: BattleNuggetized) -> list[Event]:
        """Label the nuggets of one battle."""
        if event.label_model is None:
            return await self._labelled(event)
        if self.models_of is None:
            raise Permanent(Reason.INVALID_INPUT, f"this assigner cannot ask {event.label_model!r}")
        model, decisions = await self.models_of(event.label_model)
        return await replace(self, model=model, decisions=decisions)._labelled(event)

    @property
    def _version(self) -> str:
        return VERSION if self.contradictions else PAPER_VERSION

    async def _labelled(self, event: BattleNuggetized) -> list[Event]:
        battle, listed = event.battle, event.nugget_list
        both = await asyncio.gather(*(self._one_side(battle, listed, side, event.labels) for side in Side))
        asked = [labelled for labelled in both if labelled.model != _NONE] or both[:1]
        model, version = (joined(getattr(labelled, name) for labelled in asked) for name in _ORIGIN)
        labels = tuple(item for labelled in both for item in labelled.assignments)
        assignment_set = AssignmentSet(labels, model, version)
        name = self.model.name if self.decisions is None else self.decisions.name
        key = derived_id(event.key, StageName.ASSIGNER, self.window, name, version)
        return [BattleAssigned(key, battle, event.nugget_list, assignment_set)]

    async def _one_side(
        self, battle: Battle, listed: NuggetList, side: Side, earlier: AssignmentSet | None
    ) -> Labelled:
        answer = battle.answer(side).text
        if not answer.strip():  # an empty answer states nothing, so no model is asked
            nothing = tuple(
                Assignment(nugget_id=nugget.id, side=side, support=Support.NOT_SUPPORT)
                for nugget in listed.nuggets
            )
            return Labelled(nothing, _NONE, self._version)
        ask = partial(self._asked, battle, side)
        if earlier is not None:
            return await _with_known(earlier, listed.nuggets, side, ask)
        if self.shared is None or listed.bank is None:
            return await ask(listed.nuggets)
        deciding = None if self.decisions is None else (self.decisions.name, DECISION_VERSION)
        settings = self.window, self.model.name, self._version, deciding
        own = [[turn.role.value, turn.text] for turn in battle.answer(side).conversation]
        subject = self.shared.subject(listed.bank, answer, *settings, *([own] if own else []))
        return await self.shared.of(subject, listed.nuggets, side, battle.id, ask)

    async def _asked(self, battle: Battle, side: Side, nuggets: Sequence[Nugget]) -> Labelled:
        """The labels of these nuggets, asked of the model."""
        size = self.window or len(nuggets)
        windows = [nuggets[start : start + size] for start in range(0, len(nuggets), size)]
        among = [nugget.text for nugget in nuggets] if self.window else []
        ask = self._by_chat if self.decisions is None else partial(self._by_decisions, self.decisions, among)
        parts = await asyncio.gather(*(ask(battle, window, side) for window in windows))
        labels = tuple(item for part in parts for item in part.assignments)
        return Labelled(
            labels, joined(part.model for part in parts), joined(part.prompt_version for part in parts)
        )

    async def _by_chat(self, battle: Battle, nuggets: Sequence[Nugget], side: Side) -> Labelled:
        asked = assignment(
            battle.query, _blocks(nuggets), *_texts(battle, side), contradictions=self.contradictions
        )
        prompt = in_context(asked, battle.context, {"a": side})
        reply = await self.model.ask(prompt, stage=StageName.ASSIGNER.value, battle_id=battle.id)
        assignments = _assignments(nuggets, reply, side, battle.answer(side).text)
        return Labelled(tuple(assignments), reply.model, reply.prompt_version)

    async def _by_decisions(
        self,
        model: ChatModel,
        among: Sequence[str],
        battle: Battle,
        nuggets: Sequence[Nugget],
        side: Side,
    ) -> Labelled:
        prompt = assignment_decision(battle.query, _blocks(nuggets), *_texts(battle, side), among)
        prompt = in_context(prompt, battle.context, {"a": side})
        reply = await model.ask(prompt, stage=StageName.ASSIGNER.value, battle_id=battle.id)
        answers = {answer.name: answer for answer in reply.value.answers}
        decisions = {
            nugget.id: decided(nugget.id, side, answers[f"n{number}"])
            for number, nugget in enumerate(nuggets, start=1)
        }
        declined = [nugget for nugget in nuggets if decisions[nugget.id] is None]
        if not declined:
            labels = tuple(label for label in decisions.values() if label is not None)
            return Labelled(labels, reply.model, reply.prompt_version)
        asked = await self._by_chat(battle, declined, side)
        if len(declined) == len(nuggets):
            return asked
        decisions |= {assignment.nugget_id: assignment for assignment in asked.assignments}
        labels = tuple(label for label in decisions.values() if label is not None)
        origin = joined((reply.model, asked.model)), joined((reply.prompt_version, asked.prompt_version))
        return Labelled(labels, *origin)


def build(assigner: Assigner, blobs: Blobs, *, concurrency: int = 8) -> Stage[BattleNuggetized, Event]:
    """The stage of the assigner."""
    return event_stage(StageName.ASSIGNER, assigner, blobs, concurrency=concurrency)


async def _with_known(
    earlier: AssignmentSet, nuggets: Sequence[Nugget], side: Side, ask: Callable[..., Awaitable[Labelled]]
) -> Labelled:
    """The labels of an edited list for one answer: those that are known, and for other nuggets new ones."""
    labels = {item.nugget_id: item for item in earlier.assignments if item.side is side}
    by_model = any(item.correction is None for item in labels.values())
    missing = [nugget for nugget in nuggets if nugget.id not in labels]
    new = await ask(missing) if missing else Labelled((), earlier.model, earlier.prompt_version)
    labels |= {item.nugget_id: item for item in new.assignments}
    chosen = tuple(labels[nugget.id] for nugget in nuggets)
    if not by_model:  # of the earlier model no label counts any more
        return Labelled(chosen, new.model, new.prompt_version)
    origins = [labelled for labelled in (earlier, new) if labelled.model != _NONE] or [earlier]
    return Labelled(chosen, *(joined(getattr(labelled, name) for labelled in origins) for name in _ORIGIN))


def _blocks(nuggets: Sequence[Nugget]) -> list[Block]:
    return [Block("nugget", f"n{i}", nugget.text) for i, nugget in enumerate(nuggets, start=1)]


def _texts(battle: Battle, side: Side) -> tuple[str, str]:
    return battle.answer(side).text, battle.answer(side.other).text


def _assignments(
    nuggets: Sequence[Nugget], reply: Reply[AssignmentReply], side: Side, answer: str
) -> list[Assignment]:
    labels = {label.id: label for label in reply.value.labels}
    assignments = []
    for number, nugget in enumerate(nuggets, start=1):
        label = labels[f"n{number}"]
        support = Support(label.label)
        quote = None if support is Support.NOT_SUPPORT else quoted(answer, label.first, label.last)
        assignments.append(Assignment(nugget_id=nugget.id, side=side, support=support, quote=quote))
    return assignments
