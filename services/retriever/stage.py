"""The handler of the retriever, and its stage."""

from dataclasses import dataclass

from nuggetstream.domain.event import BattleIndexed, BattleRetrieved, Event
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.identity import derived_id
from services.retriever.search import Scope, Searcher
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.wire.stages import event_stage

EVIDENCE_LIMIT = 50  # chunks per battle, as in Search Arena Meets Nuggets


@dataclass(frozen=True, slots=True)
class Retriever:
    """Finds the evidence for one battle.

    Attributes:
        searcher: Searches the chunks.
        scope: CORPUS as in the paper, or BATTLE (default): only the pages that the two answers cite, so that
            replaying a battle gives the same evidence, whatever was indexed in between.
        limit: Maximum number of chunks per battle.
    """

    searcher: Searcher
    scope: Scope = Scope.BATTLE
    limit: int = EVIDENCE_LIMIT

    async def __call__(self, event: BattleIndexed) -> list[Event]:
        """Search for the query of one battle. Without pages there is no evidence; that is not a failure."""
        battle = event.battle
        own = {chunk.id for chunk in event.chunks}
        evidence = await self.searcher.search(battle.searched, self.scope, battle.id, self.limit, own)
        ranking, minimum = self.searcher.ranking, self.searcher.min_similarity
        given = () if minimum is None else (minimum,)
        key = derived_id(event.key, StageName.RETRIEVER, self.scope, self.limit, ranking, *given)
        return [BattleRetrieved(key, battle, event.pages, tuple(evidence), ranking)]


def build(
    retriever: Retriever, blobs: Blobs, *, concurrency: int = 4, deadline: float = 60.0
) -> Stage[BattleIndexed, Event]:
    """The stage of the retriever."""
    return event_stage(StageName.RETRIEVER, retriever, blobs, concurrency=concurrency, deadline=deadline)
