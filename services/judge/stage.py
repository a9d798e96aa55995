"""The handler of the judge, and its stage."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleJudged, BattleRetrieved, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.judgment import Judgment, OrderedVerdict, combine_orders
from services.judge.evaluators import EVALUATORS, Evaluator
from services.runtime.bus import ConsumerSpec
from services.runtime.errors import Permanent
from services.runtime.llm.client import ChatModel, Reply
from services.runtime.llm.replies import VerdictReply
from services.runtime.metrics import FLIPS, begin_values
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.wire.stages import event_stage


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares the answers of one battle.

    Attributes:
        model: Chat model used for every call.
        evaluator: Name under which its verdicts are stored.
        prompt: Makes the prompt that asks for a verdict.
        both_orders: Whether to ask twice with the answers swapped (live), or once in a random order (paper).
        passages: Maximum number of chunks of evidence to show; with 0 the judge sees only the answers.
    """

    model: ChatModel
    evaluator: str = "pairwise"
    prompt: Evaluator = EVALUATORS["pairwise"]
    both_orders: bool = True
    passages: int = 10

    async def __call__(self, event: BattleRetrieved) -> list[Event]:
        """Judge one battle."""
        if not any(event.battle.answer(side).text.strip() for side in Side):
            raise Permanent(Reason.NOTHING_TO_SCORE, "both answers are empty")
        orders = self._orders(event)
        # One after the other: the second prompt begins like the first, which is then in the provider's cache.
        replies = [await self._ask(event, first) for first in orders]
        verdicts = tuple(
            OrderedVerdict(first, _winner(reply.value.winner, first), reply.value.reasoning.strip())
            for first, reply in zip(orders, replies, strict=True)
        )
        winner, flipped = combine_orders(verdicts)
        if flipped is not None:
            FLIPS.labels(str(flipped).lower()).inc()
        version = replies[0].prompt_version
        judgment = Judgment(
            evaluator=self.evaluator,
            winner=winner,
            flipped=flipped,
            verdicts=verdicts,
            model=replies[0].model,
            prompt_version=version,
        )
        key = derived_id(event.key, StageName.JUDGE, self.evaluator, self.both_orders, self.passages)
        key = derived_id(key, self.model.name, version)
        return [BattleJudged(key, event.battle, judgment)]

    def _orders(self, event: BattleRetrieved) -> Sequence[Side]:
        if self.both_orders:
            return [Side.A, Side.B]
        return [random.Random(event.key).choice(list(Side))]  # noqa: S311 - an order, not a secret

    async def _ask(self, event: BattleRetrieved, first: Side) -> Reply[VerdictReply]:
        battle = event.battle
        evidence = [item.text for item in event.evidence[: self.passages]]
        prompt = self.prompt(
            battle.query, battle.answer(first).text, battle.answer(first.other).text, evidence
        )
        return await self.model.ask(prompt, stage=StageName.JUDGE.value, battle_id=battle.id)


def build(
    judge: Judge,
    blobs: Blobs,
    *,
    concurrency: int = 8,
    deadline: float = 180.0,
    consumer: ConsumerSpec | None = None,
    one_of_several: bool = False,
) -> Stage[BattleRetrieved, Event]:
    """The stage of the judge.

    Args:
        judge: The handler.
        blobs: Where large bodies are stored.
        concurrency: Number of battles judged at once.
        deadline: Seconds that one attempt may take.
        consumer: The judge's own consumer; that of a single judge by default.
        one_of_several: Whether there are other judges, so that failures name this one.
    """
    begin_values(FLIPS, ("true", "false"))
    return event_stage(
        StageName.JUDGE,
        judge,
        blobs,
        concurrency=concurrency,
        deadline=deadline,
        consumer=consumer,
        evaluator=judge.evaluator if one_of_several else None,
    )


def _winner(winner: str, first: Side) -> Vote:
    match winner:
        case "first":
            return Vote(first.value)
        case "second":
            return Vote(first.other.value)
        case _:
            return Vote.TIE
