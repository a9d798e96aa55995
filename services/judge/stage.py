"""The handler of one evaluator, whose models are a panel of one or more, and its stage.

    BattleRetrieved or BattleAssigned  ->  [panel]  ->  BattleJudged or BattleGraded

It keeps no state. An evaluator that battles do not wait for has failures of its own, and a battle that its
selection leaves out, or in which there is nothing to evaluate, is acked without a call.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.event import BattleGraded, BattleJudged, BattleRetrieved, Event
from nuggetstream.domain.evidence import Evidence, Page
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.judgment import Judgment
from nuggetstream.domain.pipeline import PIPELINE
from nuggetstream.domain.pipeline import Stage as StageName
from nuggetstream.domain.question_bank import QuestionBank
from nuggetstream.nuggets.excerpts import excerpts
from nuggetstream.text.languages import DetectedLanguage
from services.judge.asking import Asking, Exhausted, Member
from services.judge.evaluator import Evaluator, Material, Verdicts
from services.judge.grading import bank_of, grading_of
from services.judge.judging import count_flips, judgment_of
from services.judge.options import Options
from services.judge.question_banks import QuestionBanks
from services.runtime.errors import Permanent
from services.runtime.llm.assignment import PAPER_VERSION
from services.runtime.metrics import FLIPS, begin_values
from services.runtime.stage import Stage
from services.store.content.blobs import Blobs
from services.wire.evaluators import Readable, durable_of
from services.wire.stages import event_stage
from services.wire.topology import grader_consumer

_UNSHARED = QuestionBanks()
TextsOf = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
StoredOf = Callable[[Sequence[Page]], Awaitable[Mapping[str, Sequence[str]]]]


@dataclass(frozen=True, slots=True)
class Panel:
    """Lets the models of one evaluator evaluate battles.

    Attributes:
        evaluator: The evaluator.
        members: Its models, at least one; several are a panel.
        options: The battles that it evaluates, how it asks, and how several answers become one; None for the
            evaluator's defaults.
        awaited: Whether battles wait for it; it is then a judge.
        both_orders: Whether a judge asks twice with the answers swapped, or once in a random order.
        passages: Maximum number of chunks that it sees.
        characters: Maximum number of their characters, see `excerpts`; None shows all.
        exhausted: Returns what its budget has been used up by, and None while there is some left. None
            without a budget.
        texts_of: Returns the texts of chunks by id; None where nothing is stored.
        stored_of: Returns the texts of all chunks of pages, by content hash; None where nothing is stored.
        banks: The questions that battles with the same query share.
        booked: Stage under which its calls are booked; None for that of the evaluator.
    """

    evaluator: Evaluator
    members: Sequence[Member]
    options: Options | None = None
    awaited: bool = False
    both_orders: bool = True
    passages: int = 10
    characters: int | None = None
    exhausted: Exhausted | None = None
    texts_of: TextsOf | None = None
    stored_of: StoredOf | None = None
    banks: QuestionBanks = _UNSHARED
    booked: str | None = None

    async def __call__(self, event: Readable) -> list[Event]:
        """Evaluate one battle."""
        options, battle = self.own_options, event.battle
        detected = await options.detected(battle, needed=self.evaluator.reads_language)
        if not options.includes(battle, battle.language if detected is None else detected.tag):
            return []
        material = await self._material(event, detected)
        if not self.awaited and not self.evaluator.can_evaluate(material):
            return []
        result = await self._evaluated(event, material)
        key = self._key(event, result)
        if isinstance(result, Judgment):
            count_flips(result)
            return [BattleJudged(key, battle, result)]
        return [BattleGraded(key, battle.id, battle.arena, result)]

    async def evaluated(self, event: Readable) -> Judgment | Grading:
        """What the evaluator yields for one battle, whether it is selected or not.

        Raises:
            StageError: There is nothing to evaluate, or no model answered.
        """
        return await self._evaluated(event, await self._material(event, None))

    async def bank(self, event: Readable) -> QuestionBank | None:
        """The questions that a battle is graded on; None where it is graded on none.

        Raises:
            StageError: No model gave any.
        """
        yields, material = self.evaluator.yields, await self._material(event, None)
        if isinstance(yields, Verdicts):
            return None
        return await bank_of(yields, material, self._askings(event), self.banks)

    @property
    def own_options(self) -> Options:
        """Its options, or the evaluator's defaults."""
        return self.options or self.evaluator.option_type()

    @property
    def stage(self) -> str:
        """The stage under which its calls are booked."""
        own = StageName.JUDGE.value if self.awaited else durable_of(self.evaluator.name)
        return self.booked or own

    async def _evaluated(self, event: Readable, material: Material) -> Judgment | Grading:
        if not self.evaluator.can_evaluate(material):
            raise Permanent(Reason.NOTHING_TO_SCORE, "both answers are empty")
        askings, yields = self._askings(event), self.evaluator.yields
        if isinstance(yields, Verdicts):
            return await judgment_of(
                yields, event, material, askings, both=self.both_orders, awaited=self.awaited
            )
        return await grading_of(yields, event, material, askings, self.banks)

    def _askings(self, event: Readable) -> list[Asking]:
        return [
            Asking(
                member=member,
                battle=event.battle,
                evaluator=self.evaluator.name,
                stage=self.stage,
                exhausted=self.exhausted,
            )
            for member in self.members
        ]

    def _key(self, event: Readable, result: Judgment | Grading) -> str:
        """Identifies a result: it depends on the event, the models, the prompts and the options."""
        stage = StageName.JUDGE if isinstance(result, Judgment) else StageName.GRADER
        key = derived_id(event.key, stage, self.evaluator.name, self.both_orders, self.passages)
        asked = [name for member in self.members for name in (member.name, member.model.name, member.asked)]
        key = derived_id(key, self.characters, *asked, result.prompt_version, self.own_options.asked)
        bank = result.bank if isinstance(result, Grading) else None
        return key if bank is None else derived_id(key, bank.query_id, bank.version)

    async def _material(self, event: Readable, detected: DetectedLanguage | None) -> Material:
        if isinstance(event, BattleRetrieved):
            stored_of = self.stored_of if self.evaluator.reads_stored(self.own_options) else None
            return Material(
                battle=event.battle,
                evidence=self._shown(event),
                retrieved=event.evidence,
                pages=event.pages,
                stored={} if stored_of is None else await stored_of(event.pages),
                detected=detected,
                options=self.own_options,
            )
        nuggets, passages = event.nugget_list.nuggets, dict[str, str]()
        if self.evaluator.reads_passages and self.texts_of is not None:
            read = {origin.document for nugget in nuggets for origin in nugget.provenance}
            chunks = sorted(document for document in read if not document.startswith("answer:"))
            passages |= await self.texts_of(chunks)
        labels = event.assignment_set
        return Material(
            battle=event.battle,
            nuggets=nuggets,
            labels=labels.assignments,
            passages=passages,
            detected=detected,
            options=self.own_options,
            contradictions=PAPER_VERSION not in labels.prompt_version.split(", "),
        )

    def _shown(self, event: BattleRetrieved) -> tuple[Evidence, ...]:
        shown = event.evidence[: self.passages]
        return shown if self.characters is None else tuple(excerpts(shown, event.battle, self.characters))


def build(panel: Panel, blobs: Blobs, *, concurrency: int = 8) -> Stage[Readable, Event]:
    """The stage of one evaluator.

    Args:
        panel: The handler.
        blobs: Where large bodies are stored.
        concurrency: Number of battles evaluated at once.
    """
    begin_values(FLIPS, ("true", "false"))
    name = panel.evaluator.name
    return event_stage(
        StageName.JUDGE if panel.awaited else StageName.GRADER,
        panel,
        blobs,
        concurrency=concurrency,
        deadline=PIPELINE[StageName.JUDGE].deadline,
        consumer=None if panel.awaited else grader_consumer(name),
        evaluator=None if panel.awaited else name,
    )
