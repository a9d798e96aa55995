"""The handler of the nuggetizer, and its stage."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleNuggetized, BattleRetrieved, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.nugget import BankVersion, Importance, Nugget, NuggetList, vital_first
from nuggetstream.domain.pipeline import Stage as StageName
from nuggetstream.nuggets.grounding import with_grounds
from services.nuggetizer.bank import Making, NuggetBank, bank_of
from services.nuggetizer.creation import Created, Draft, added, create_in_windows, create_live
from services.nuggetizer.decisions import VERSION as DECISION_VERSION
from services.nuggetizer.decisions import decided, with_importance
from services.nuggetizer.documents import Document, NuggetSources, documents_of
from services.nuggetizer.prompts import VERSION
from services.runtime.errors import Permanent
from services.runtime.llm.conversation import ModelInContext
from services.runtime.llm.model import ChatModel
from services.runtime.stage import Stage
from services.store.content.blobs import Blobs
from services.wire.stages import event_stage

# What new answers add to a shared list: each at most a tenth of the limit, until the list is twice as long.
_SHARE, _LARGEST = 10, 2


class Profile(StrEnum):
    """How nuggets are created: in one call (live), or as in the paper."""

    LIVE = "live"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class Nuggetizer:
    """Creates the nugget list of one battle.

    Attributes:
        model: Chat model used for every call.
        profile: In one call, or window by window.
        sources: Which documents are read.
        limit: Maximum number of nuggets in a list.
        window: Number of documents, or of nuggets to label, per call in the paper profile.
        characters: Maximum number of characters of the chunks to read; None reads all.
        decisions: Model that decides the importance of the nuggets once the list stands; None keeps the
            importance that the list gave.
        bank: Lists that battles share in the live profile; None creates one for every battle.
        prompts: Identifies the operator's own prompts, so that a bank has lists of one wording.
    """

    model: ChatModel
    profile: Profile = Profile.LIVE
    sources: NuggetSources = NuggetSources.BOTH
    limit: int = 30
    window: int = 10
    characters: int | None = None
    decisions: ChatModel | None = None
    bank: NuggetBank | None = None
    prompts: str | None = None

    async def __call__(self, event: BattleRetrieved) -> list[Event]:
        """Read the documents of one battle and list the facts a good answer needs."""
        documents = await asyncio.to_thread(documents_of, event, self.sources, self.characters)
        if not documents:
            raise Permanent(Reason.NO_EVIDENCE, f"there is nothing to read ({self.sources.value})")
        if self.bank is None or self.profile is Profile.PAPER:
            created, version = await self._created(event, documents), None
        else:
            version, created = await self.bank.list_for(self._making(event, documents))
        key = derived_id(event.key, StageName.NUGGETIZER, self.profile, self.sources, self.limit, self.window)
        key = derived_id(key, None, self.characters, self.model.name, created.prompt_version, *self._deciding)
        if version is not None:
            key = derived_id(key, version.bank, version.version)
        listed = self._nugget_list(key, created, version)
        windows = self.profile is Profile.PAPER
        nuggets = await asyncio.to_thread(
            with_grounds, listed.nuggets, event.evidence, event.battle, windows=windows
        )
        return [BattleNuggetized(key, event.battle, replace(listed, nuggets=vital_first(nuggets)))]

    async def _created(self, event: BattleRetrieved, documents: Sequence[Document]) -> Created:
        """A list for this battle alone."""
        query, battle_id, model = event.battle.query, event.battle.id, self._in_context(event, documents)
        if self.profile is Profile.LIVE:
            created = await create_live(model, query, documents, limit=self.limit, battle_id=battle_id)
        else:
            created = await create_in_windows(
                model,
                query,
                documents,
                limit=self.limit,
                window=self.window,
                battle_id=battle_id,
            )
        if self.decisions is not None:
            created = await with_importance(created, self.decisions, event.battle)
        self._require_scorable(created)
        return created

    def _making(self, event: BattleRetrieved, documents: Sequence[Document]) -> Making:
        """How the bank's list for a battle is made."""

        async def extend(nuggets: Sequence[str], sides: Sequence[Side]) -> Sequence[Draft]:
            if len(nuggets) >= _LARGEST * self.limit:
                return []
            names = {f"answer:{side.value}" for side in sides}
            answers = [document for document in documents if document.provenance.document in names]
            most = len(answers) * max(1, self.limit // _SHARE)
            query, battle_id, model = event.battle.query, event.battle.id, self._in_context(event, answers)
            drafts = await added(model, query, nuggets, answers, limit=most, battle_id=battle_id)
            if self.decisions is None or not drafts:
                return drafts
            return (await decided(drafts, self.decisions, event.battle))[0]

        read = {document.provenance.document for document in documents}
        settings = (self.profile, self.sources, self.limit, None, self.characters)
        return Making(
            event=event,
            bank=bank_of(event, *settings, self.model.name, VERSION, self.prompts, *self._deciding),
            sides=[side for side in Side if f"answer:{side.value}" in read],
            most=_LARGEST * self.limit,
            create=lambda: self._created(event, documents),
            extend=extend,
        )

    def _in_context(self, event: BattleRetrieved, documents: Sequence[Document]) -> ChatModel:
        """The model, which is shown the earlier turns of the battle with every prompt."""
        sides = {f"answer:{side.value}": side for side in Side}
        origins = ((document.block.id, document.provenance.document) for document in documents)
        writers = {name: sides[origin] for name, origin in origins if origin in sides}
        return ModelInContext(self.model, event.battle.context, writers)

    def _require_scorable(self, created: Created) -> None:
        if not created.drafts:
            raise Permanent(Reason.NOTHING_TO_SCORE, "the documents contain no fact that answers the query")
        if all(draft.importance is not Importance.VITAL for draft in created.drafts):
            raise Permanent(Reason.NO_VITAL_NUGGET, "no nugget is vital: the battle cannot be scored")

    def _nugget_list(self, key: str, created: Created, bank: BankVersion | None) -> NuggetList:
        # In a bank a nugget has one id in all battles, so that they can share its labels.
        base = key if bank is None else bank.bank
        return NuggetList(
            nuggets=tuple(_nugget(base, draft) for draft in created.drafts),
            history=tuple(created.history),
            profile=self.profile.value,
            sources=self.sources.value,
            model=created.model,
            prompt_version=created.prompt_version,
            bank=bank,
        )

    @property
    def _deciding(self) -> tuple[str, ...]:
        """What decides the importance; lists whose importance is decided are others than those without."""
        return () if self.decisions is None else (self.decisions.name, DECISION_VERSION)


def build(
    nuggetizer: Nuggetizer,
    blobs: Blobs,
    *,
    concurrency: int = 8,
) -> Stage[BattleRetrieved, Event]:
    """The stage of the nuggetizer.

    Args:
        nuggetizer: The handler.
        blobs: Where large bodies are stored.
        concurrency: Number of battles handled at once.
    """
    return event_stage(
        StageName.NUGGETIZER,
        nuggetizer,
        blobs,
        concurrency=concurrency,
    )


def _nugget(key: str, draft: Draft) -> Nugget:
    return Nugget(
        id=derived_id(key, draft.text),
        text=draft.text,
        importance=draft.importance,
        provenance=draft.provenance,
        vital_probability=draft.vital_probability,
    )
