"""The handler of the judge, and its stage."""

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleJudged, BattleRetrieved, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.judgment import Judgment, OrderedVerdict, combine_orders
from services.judge.decisions import decided, shown_to_side, verdict_decision
from services.judge.evaluators import EVALUATORS, Evaluator
from services.judge.orders import count_flips, has_an_answer, orders_of, shown_evidence
from services.judge.tie_bands import with_tie_band
from services.runtime.errors import Permanent
from services.runtime.llm.conversation import in_context
from services.runtime.llm.model import ChatModel, DecisionModel, joined
from services.runtime.llm.prompt import Prompt, R
from services.runtime.metrics import FLIPS, begin_values
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.wire.stages import event_stage

_Asked: TypeAlias = tuple[OrderedVerdict, str, str]


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares the answers of one battle.

    Attributes:
        model: Chat model used for every call.
        evaluator: Name under which its verdicts are stored.
        prompt: Makes the prompt that asks for a verdict.
        both_orders: Whether to ask twice with the answers swapped (live), or once in a random order (paper).
        passages: Maximum number of chunks of evidence to show; with 0 the judge sees only the answers.
        characters: Maximum number of their characters to show, see `excerpts`; None shows all.
        decisions: Model that is asked for a decision instead (frugal profile); the chat model is asked
            where it declines to decide.
        tie_band: Largest difference of the probabilities of A and B that is a tie; None takes the verdicts
            as they are, as do battles whose verdicts have no probabilities.
    """

    model: ChatModel
    evaluator: str = "pairwise"
    prompt: Evaluator = EVALUATORS["pairwise"]
    both_orders: bool = True
    passages: int = 10
    characters: int | None = None
    decisions: DecisionModel | None = None
    tie_band: float | None = None

    async def __call__(self, event: BattleRetrieved) -> list[Event]:
        """Judge one battle."""
        judgment = await self.judged(event)
        count_flips(judgment)
        key = derived_id(event.key, StageName.JUDGE, self.evaluator, self.both_orders, self.passages)
        name = self.model.name if self.decisions is None else self.decisions.name
        key = derived_id(key, self.characters, name, judgment.prompt_version)
        if judgment.tie_band is not None:
            key = derived_id(key, judgment.tie_band)
        return [BattleJudged(key, event.battle, judgment)]

    async def judged(self, event: BattleRetrieved) -> Judgment:
        """The verdict about one battle."""
        if not has_an_answer(event.battle):
            raise Permanent(Reason.NOTHING_TO_SCORE, "both answers are empty")
        asked = await self._asked(event)
        verdicts, models, versions = zip(*asked, strict=True)
        winner, flipped = combine_orders(verdicts)
        judgment = Judgment(
            evaluator=self.evaluator,
            winner=winner,
            flipped=flipped,
            verdicts=verdicts,
            model=joined(models),
            prompt_version=joined(versions),
        )
        return with_tie_band(judgment, self.tie_band)

    async def _asked(self, event: BattleRetrieved) -> list[_Asked]:
        """The verdict of every order, with the model that gave it and the version of the prompt."""
        ask = self._by_chat if self.decisions is None else partial(self._by_decision, self.decisions)
        return [await ask(event, first) for first in orders_of(event.key, both=self.both_orders)]

    async def _by_chat(self, event: BattleRetrieved, first: Side) -> _Asked:
        prompt = _in_context(self.prompt(*self._shown(event, first)), event, first)
        reply = await self.model.ask(prompt, stage=StageName.JUDGE.value, battle_id=event.battle.id)
        winner, reasoning = shown_to_side(reply.value.winner, first), reply.value.reasoning.strip()
        return OrderedVerdict(first, winner, reasoning), reply.model, reply.prompt_version

    async def _by_decision(self, model: DecisionModel, event: BattleRetrieved, first: Side) -> _Asked:
        prompt = _in_context(verdict_decision(*self._shown(event, first)), event, first)
        reply = await model.ask(prompt, stage=StageName.JUDGE.value, battle_id=event.battle.id)
        [answer] = reply.value.answers
        if answer.letter is None:
            return await self._by_chat(event, first)
        return decided(answer, first), reply.model, reply.prompt_version

    def _shown(self, event: BattleRetrieved, first: Side) -> tuple[str, str, str, list[str]]:
        texts = [item.text for item in shown_evidence(event, self.passages, self.characters)]
        return event.battle.query, *event.battle.texts(first), texts


def _in_context(prompt: Prompt[R], event: BattleRetrieved, first: Side) -> Prompt[R]:
    return in_context(prompt, event.battle.context, {"first": first, "second": first.other})


def build(
    judge: Judge,
    blobs: Blobs,
    *,
    concurrency: int = 8,
    deadline: float = 180.0,
) -> Stage[BattleRetrieved, Event]:
    """The stage of the judge.

    Args:
        judge: The handler.
        blobs: Where large bodies are stored.
        concurrency: Number of battles judged at once.
        deadline: Seconds that one attempt may take.
    """
    begin_values(FLIPS, ("true", "false"))
    return event_stage(
        StageName.JUDGE,
        judge,
        blobs,
        concurrency=concurrency,
        deadline=deadline,
    )
