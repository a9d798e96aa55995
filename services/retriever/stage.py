"""The handler of the retriever, and its stage."""

from dataclasses import dataclass

from nuggetstream.domain.event import BattleIndexed, BattleRetrieved, Event
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import Stage as StageName
from services.retriever.cited import with_cited
from services.retriever.search import Scope, Searcher
from services.retriever.variations import QueryVariations
from services.runtime import tracing
from services.runtime.stage import Stage
from services.store.content.blobs import Blobs
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
        variations: Makes variations of queries; None to search for the query alone.
    """

    searcher: Searcher
    scope: Scope = Scope.BATTLE
    limit: int = EVIDENCE_LIMIT
    variations: QueryVariations | None = None

    async def __call__(self, event: BattleIndexed) -> list[Event]:
        """Search for the query of one battle. Without pages there is no evidence; that is not a failure."""
        battle = event.battle
        own = {chunk.id for chunk in event.chunks}
        variations: tuple[str, ...] = ()
        if self.variations is not None and (own or self.scope is Scope.CORPUS):
            variations = await self.variations.of(battle)
        queries = [battle.searched, *variations]
        with tracing.span("search", attributes={"nuggetstream.scope": self.scope.value}):
            result = await self.searcher.find(
                queries, self.scope, battle.id, self.limit, own, arena=battle.arena
            )
        evidence = await with_cited(result.evidence, battle, self.searcher, own, self.limit)
        key = derived_id(event.key, StageName.RETRIEVER, self.scope, self.limit, *self._settings())
        return [
            BattleRetrieved(
                key=key,
                battle=battle,
                pages=event.pages,
                evidence=tuple(evidence),
                ranking=result.ranking,
                variations=variations,
            )
        ]

    def _settings(self) -> list[object]:
        """What else the evidence depends on."""
        searcher, variations = self.searcher, self.variations
        reranking = searcher.reranking
        shared = sorted(searcher.shared) if self.scope is Scope.CORPUS else []
        return [
            searcher.ranking,
            *(["shared", *shared] if shared else []),
            *([] if reranking is None else ["rerank", reranking.reranker.model, reranking.candidates]),
            *([] if variations is None else ["variations", variations.model.name, variations.count]),
        ]


def build(retriever: Retriever, blobs: Blobs, *, concurrency: int = 4) -> Stage[BattleIndexed, Event]:
    """The stage of the retriever."""
    return event_stage(StageName.RETRIEVER, retriever, blobs, concurrency=concurrency)
