"""The handler of a judge of any kind, alone or as a panel, and its stage.

    BattleRetrieved or BattleAssigned  ->  [judge]  ->  BattleJudged

It keeps no state. An additional judge is run as an evaluator: battles do not wait for it, its failures are
its own, and a battle that its selection leaves out is acked without a call.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.event import (
    BattleAssigned,
    BattleJudged,
    BattleRetrieved,
    Event,
    list_version_of,
)
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.judgment import Judgment, MemberVerdict, OrderedVerdict, combine_orders
from services.judge.graders.evaluator import Material
from services.judge.orders import count_flips, has_an_answer, orders_of, shown_evidence
from services.judge.pairwise.kind import Kind
from services.judge.panel import ABSTENTIONS, Voter, aggregate, all_of
from services.judge.selection import JudgeOptions
from services.judge.tie_bands import with_tie_band
from services.runtime.errors import BudgetExceeded, Permanent, StageError
from services.runtime.llm.conversation import in_context
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.model import Reply
from services.runtime.llm.prompt import Prompt, R
from services.runtime.metrics import FLIPS, begin_values
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.wire.graders import durable_of
from services.wire.stages import event_stage
from services.wire.topology import grader_consumer

Readable = BattleRetrieved | BattleAssigned
_DEFAULTS = JudgeOptions()


async def _within_budget() -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Comparer:
    """Lets one judge compare the answers of battles.

    Attributes:
        name: Name under which its verdicts are stored.
        kind: What it asks.
        voters: The models; several are a panel.
        options: The battles that an additional judge compares, how it asks, and its tie band.
        both_orders: Whether to ask twice with the answers swapped, or once in a random order.
        passages: Maximum number of chunks that it sees.
        characters: Maximum number of their characters, see `excerpts`; None shows all.
        additional: Whether it runs beside the judges that battles wait for.
        exhausted: Returns what its budget has been used up by; None while there is some left.
    """

    name: str
    kind: Kind
    voters: Sequence[Voter]
    options: JudgeOptions = _DEFAULTS
    both_orders: bool = True
    passages: int = 10
    characters: int | None = None
    additional: bool = True
    exhausted: Callable[[], Awaitable[str | None]] = _within_budget

    async def __call__(self, event: Readable) -> list[Event]:
        """Judge one battle."""
        if self.additional and not await self.options.selects(event.battle):
            return []
        if self.additional and not _can_be_judged(self._material(event), self.kind):
            return []
        judgment = await self.judged(event)
        count_flips(judgment)
        key = derived_id(event.key, StageName.JUDGE, self.name, self.both_orders, self.passages)
        key = derived_id(key, self.characters, self._models, judgment.prompt_version, self.options.asked)
        return [BattleJudged(key, event.battle, judgment)]

    @property
    def stage(self) -> str:
        """The stage under which its calls are booked."""
        return durable_of(self.name) if self.additional else StageName.JUDGE.value

    @property
    def _models(self) -> str:
        return ", ".join((v.model if v.decisions is None else v.decisions).name for v in self.voters)

    async def judged(self, event: Readable) -> Judgment:
        """The verdict about one battle, whether it is selected or not.

        Raises:
            Permanent: There is nothing to compare.
        """
        return with_tie_band(await self._judged(event), self.options.tie_band)

    async def _judged(self, event: Readable) -> Judgment:
        material = self._material(event)
        if not _can_be_judged(material, self.kind):
            raise Permanent(Reason.NOTHING_TO_SCORE, "both answers are empty")
        if len(self.voters) == 1:
            asking = _Asking(comparer=self, voter=self.voters[0], battle=event.battle)
            verdicts = await self._verdicts(event, material, asking)
            winner, flipped = combine_orders(verdicts)
            return Judgment(
                evaluator=self.name,
                winner=winner,
                flipped=flipped,
                verdicts=verdicts,
                model=asking.answered,
                prompt_version=asking.version,
                guided=self.kind.guided,
                additional=self.additional,
                list_version=list_version_of(event),
            )
        asked = await all_of(self._member(event, material, voter) for voter in self.voters)
        members = tuple(member for member, _ in asked)
        winner, aggregation = aggregate(members, self.options.aggregation)
        return Judgment(
            evaluator=self.name,
            winner=winner,
            flipped=None,
            verdicts=(),
            model=", ".join(member.model for member in members),
            prompt_version=next(version for member, version in asked if member.winner is not None),
            guided=self.kind.guided,
            additional=self.additional,
            members=members,
            aggregation=aggregation,
            list_version=list_version_of(event),
        )

    async def _member(self, event: Readable, material: Material, voter: Voter) -> tuple[MemberVerdict, str]:
        """What one member of the panel says, and the version of its prompts."""
        asking = _Asking(comparer=self, voter=voter, battle=event.battle)
        try:
            verdicts = await self._verdicts(event, material, asking)
        except StageError as error:
            if error.reason not in ABSTENTIONS:
                raise
            abstained = MemberVerdict(
                name=voter.name,
                model=voter.model.name,
                winner=None,
                flipped=None,
                abstention=error.reason,
            )
            return abstained, asking.version
        winner, flipped = combine_orders(verdicts)
        said = MemberVerdict(
            name=voter.name, model=asking.answered, winner=winner, flipped=flipped, verdicts=verdicts
        )
        return said, asking.version

    async def _verdicts(
        self, event: Readable, material: Material, asking: "_Asking"
    ) -> tuple[OrderedVerdict, ...]:
        """The verdict of every order."""
        order = await self.kind.compare(asking, material, self.options)
        verdicts = []
        for first in orders_of(event.key, both=self.both_orders):
            asking.first = first
            verdicts.append(await order(first))
        return tuple(verdicts)

    def _material(self, event: Readable) -> Material:
        if isinstance(event, BattleRetrieved):
            return Material(
                battle=event.battle,
                evidence=shown_evidence(event, self.passages, self.characters),
                retrieved=event.evidence,
                pages=event.pages,
            )
        labels = event.assignment_set.assignments
        return Material(battle=event.battle, nuggets=event.nugget_list.nuggets, labels=labels)


@dataclass(slots=True)
class _Asking:
    """The calls of one model for one battle: the model that answered, and the versions of the prompts.

    Attributes:
        first: Side whose answer is shown first in the order that is asked for; None before the first order.
    """

    comparer: Comparer
    voter: Voter
    battle: Battle
    first: Side | None = None
    model: str | None = None
    versions: list[str] = field(default_factory=list)

    @property
    def answered(self) -> str:
        """The model that answered last; the one that was asked where none has answered."""
        return self.model or self.voter.model.name

    @property
    def version(self) -> str:
        """The versions of the prompts as one text."""
        return "+".join(self.versions) or "none"

    async def __call__(self, prompt: Prompt[R]) -> R:
        """The reply of the chat model to a prompt."""
        await self._check_budget()
        stage, shown = self.comparer.stage, self._in_context(prompt)
        return self._noted(await self.voter.model.ask(shown, stage=stage, battle_id=self.battle.id))

    async def decide(self, prompt: Prompt[DecisionReply]) -> DecisionReply | None:
        """The answers of the model for decisions; None where there is no such model."""
        if (model := self.voter.decisions) is None:
            return None
        await self._check_budget()
        stage, shown = self.comparer.stage, self._in_context(prompt)
        return self._noted(await model.ask(shown, stage=stage, battle_id=self.battle.id))

    def _in_context(self, prompt: Prompt[R]) -> Prompt[R]:
        writers = {} if self.first is None else {"first": self.first, "second": self.first.other}
        return in_context(prompt, self.battle.context, writers)

    async def _check_budget(self) -> None:
        if (over := await self.comparer.exhausted()) is not None:
            raise BudgetExceeded(f"the judge {self.comparer.name} has used {over} today")

    def _noted(self, reply: Reply[R]) -> R:
        self.model = reply.model
        if reply.prompt_version not in self.versions:
            self.versions.append(reply.prompt_version)
        return reply.value


def _can_be_judged(material: Material, kind: Kind) -> bool:
    return has_an_answer(material.battle) and (not kind.guided or bool(material.nuggets))


def build(
    comparer: Comparer,
    blobs: Blobs,
    *,
    concurrency: int = 8,
    deadline: float = 180.0,
) -> Stage[Readable, Event]:
    """The stage of a judge.

    Args:
        comparer: The handler.
        blobs: Where large bodies are stored.
        concurrency: Number of battles judged at once.
        deadline: Seconds that one attempt may take.
    """
    begin_values(FLIPS, ("true", "false"))
    return event_stage(
        StageName.GRADER if comparer.additional else StageName.JUDGE,
        comparer,
        blobs,
        concurrency=concurrency,
        deadline=deadline,
        consumer=grader_consumer(comparer.name, comparer.kind.reads) if comparer.additional else None,
        evaluator=comparer.name if comparer.additional else None,
    )
