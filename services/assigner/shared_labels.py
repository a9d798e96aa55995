"""Labels that battles of a nugget bank share: an answer is labelled once for every nugget of the bank.

labels stored for the answer ─> are nuggets missing? ─yes─> ask for those, store their labels
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter

from nuggetstream.domain.battle import Side
from nuggetstream.domain.identity import content_hash, derived_id
from nuggetstream.domain.nugget import Assignment, BankVersion, Nugget
from services.runtime.llm.model import joined
from services.runtime.single_writer import SingleWriter
from services.store.content.nugget_banks import NuggetLabels


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels of one answer.

    Attributes:
        assignments: The labels.
        model: Model that gave them; several separated by commas.
        prompt_version: Version of the prompt; several separated by commas.
    """

    assignments: tuple[Assignment, ...]
    model: str
    prompt_version: str


_STORED: TypeAdapter[Labelled] = TypeAdapter(Labelled)
Ask = Callable[[Sequence[Nugget]], Awaitable[Labelled]]


@dataclass(frozen=True, slots=True)
class SharedLabels:
    """The labels that battles share.

    Attributes:
        labels: Where they are stored.
        prompts: Identifies the operator's own prompts, so that labels of one answer come from one wording.
        writer: Lets one battle ask for the labels of an answer, while others wait for them.
    """

    labels: NuggetLabels
    prompts: str | None = None
    writer: SingleWriter = field(default_factory=SingleWriter)

    def subject(self, bank: BankVersion, answer: str, *settings: object) -> str:
        """What labels are stored for: an answer, as one model labels it for the nuggets of a bank."""
        return derived_id("labels", bank.bank, content_hash(answer), self.prompts, *settings)

    async def of(
        self, subject: str, nuggets: Sequence[Nugget], side: Side, battle_id: str, ask: Ask
    ) -> Labelled:
        """The labels of an answer for some nuggets.

        Args:
            subject: See `subject`.
            nuggets: The nuggets.
            side: The side that the answer has in this battle.
            battle_id: The battle.
            ask: Asks for the labels of nuggets.
        """
        turn = self.writer.turn(subject)
        stored = await self._stored(subject, battle_id)
        if not _missing(nuggets, stored):
            return _chosen(nuggets, stored, side)
        async with turn.taken() as changed:
            if changed:
                stored = await self._stored(subject, battle_id)
            if missing := _missing(nuggets, stored):
                new = await ask(missing)
                ids = [nugget.id for nugget in missing]
                await self.labels.put(subject, ids, _STORED.dump_json(new), battle_id)
                stored = [*stored, new]
        return _chosen(nuggets, stored, side)

    async def _stored(self, subject: str, battle_id: str) -> list[Labelled]:
        return [_STORED.validate_json(body) for body in await self.labels.get(subject, battle_id)]


def _missing(nuggets: Sequence[Nugget], stored: Sequence[Labelled]) -> list[Nugget]:
    labelled_ids = {item.nugget_id for labelled in stored for item in labelled.assignments}
    return [nugget for nugget in nuggets if nugget.id not in labelled_ids]


def _chosen(nuggets: Sequence[Nugget], stored: Sequence[Labelled], side: Side) -> Labelled:
    """The labels of these nuggets, as labels of the answer's side in this battle."""
    labels = {item.nugget_id: item for labelled in stored for item in labelled.assignments}
    chosen = [labels[nugget.id] for nugget in nuggets]
    wanted = {nugget.id for nugget in nuggets}
    used = [
        stored_labels
        for stored_labels in stored
        if any(item.nugget_id in wanted for item in stored_labels.assignments)
    ]
    return Labelled(
        tuple(replace(item, side=side) for item in chosen),
        joined(stored_labels.model for stored_labels in used),
        joined(stored_labels.prompt_version for stored_labels in used),
    )
