"""The handler of the nuggetizer, and its stage."""

from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.domain.event import BattleNuggetized, BattleRetrieved, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.nugget import Importance, Nugget, NuggetList
from services.nuggetizer.creation import Created, Draft, create_in_windows, create_live
from services.nuggetizer.documents import NuggetSources, documents_of
from services.runtime.errors import Permanent
from services.runtime.llm.model import ChatModel
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.wire.stages import event_stage


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
        passages: Maximum number of chunks to read; None reads all.
    """

    model: ChatModel
    profile: Profile = Profile.LIVE
    sources: NuggetSources = NuggetSources.BOTH
    limit: int = 30
    window: int = 10
    passages: int | None = None

    async def __call__(self, event: BattleRetrieved) -> list[Event]:
        """Read the documents of one battle and list the facts a good answer needs."""
        documents = documents_of(event, self.sources, self.passages)
        if not documents:
            raise Permanent(Reason.NO_EVIDENCE, f"there is nothing to read ({self.sources.value})")
        query, battle_id = event.battle.query, event.battle.id
        if self.profile is Profile.LIVE:
            created = await create_live(self.model, query, documents, limit=self.limit, battle_id=battle_id)
        else:
            created = await create_in_windows(
                self.model,
                query,
                documents,
                limit=self.limit,
                window=self.window,
                battle_id=battle_id,
            )
        self._require_scorable(created)
        key = derived_id(event.key, StageName.NUGGETIZER, self.profile, self.sources, self.limit, self.window)
        key = derived_id(key, self.passages, self.model.name, created.prompt_version)
        return [BattleNuggetized(key, event.battle, self._nugget_list(key, created))]

    def _require_scorable(self, created: Created) -> None:
        if not created.drafts:
            raise Permanent(Reason.NOTHING_TO_SCORE, "the documents contain no fact that answers the query")
        if all(draft.importance is not Importance.VITAL for draft in created.drafts):
            raise Permanent(Reason.NO_VITAL_NUGGET, "no nugget is vital: the battle cannot be scored")

    def _nugget_list(self, key: str, created: Created) -> NuggetList:
        return NuggetList(
            nuggets=tuple(_nugget(key, draft) for draft in created.drafts),
            history=tuple(created.history),
            profile=self.profile.value,
            sources=self.sources.value,
            model=created.model,
            prompt_version=created.prompt_version,
        )


def build(
    nuggetizer: Nuggetizer, blobs: Blobs, *, concurrency: int = 8, deadline: float = 300.0
) -> Stage[BattleRetrieved, Event]:
    """The stage of the nuggetizer."""
    return event_stage(StageName.NUGGETIZER, nuggetizer, blobs, concurrency=concurrency, deadline=deadline)


def _nugget(key: str, draft: Draft) -> Nugget:
    return Nugget(derived_id(key, draft.text), draft.text, draft.importance, draft.provenance)
