"""The sources of an answer, with what became of their pages and of the passages that the answer cites."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from nuggetstream.domain.battle import CitedPassage, Side, Source
from nuggetstream.domain.evidence import Evidence, Page, PageState
from nuggetstream.domain.identity import content_hash
from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.text.snippets import quoted
from nuggetstream.views.battles import EvidenceView
from nuggetstream.views.sources import Cited, CitedPassageView, SourceView


def source_views(snapshot: BattleSnapshot, side: Side) -> list[SourceView]:
    """The sources of one side."""
    pages = {page.url: page for page in snapshot.pages}
    # By content: a chunk names one URL of its page, and other URLs may redirect to the same page.
    chunks = defaultdict[str, list[Evidence]](list)
    for chunk in snapshot.evidence:
        chunks[chunk.content_hash].append(chunk)
    views = []
    for source in snapshot.battle.answer(side).sources:
        page = pages.get(source.url)
        key = None if page is None or page.state is PageState.REJECTED else page.content_hash
        own = [] if key is None else chunks[key]
        views.append(_view(source, page, own, _cited(source, page, own)))
    return views


def evidence_views(
    snapshot: BattleSnapshot, answers: Mapping[Side, Sequence[SourceView]]
) -> list[EvidenceView]:
    """The chunks retrieved for a battle, with the sides that cite a passage of them.

    Args:
        snapshot: The battle.
        answers: The sources of each side.
    """
    citing = {
        side: {key for source in sources for cited in source.cited for key in cited.chunk_ids}
        for side, sources in answers.items()
    }
    return [
        EvidenceView.showing(
            chunk, quoted_by=[side for side, keys in citing.items() if chunk.chunk_id in keys]
        )
        for chunk in snapshot.evidence
    ]


def _view(
    source: Source, page: Page | None, chunks: Sequence[Evidence], cited: list[CitedPassageView]
) -> SourceView:
    if page is None:
        return SourceView.showing(source, state="pending", cited=cited)
    return SourceView.showing(
        page,
        url=source.url,
        title=page.title or source.title,
        chunks=len(chunks),
        partly_read=sum(chunk.read_share is not None for chunk in chunks),
        cited=cited,
    )


def _cited(source: Source, page: Page | None, own: Sequence[Evidence]) -> list[CitedPassageView]:
    """The cited passages of a source, with what is known of them.

    Args:
        source: The source.
        page: Its page; None when it is not fetched yet.
        own: The chunks of the page that were retrieved.
    """
    snippets = [citation.snippet for citation in source.cited if citation.snippet is not None]
    having = {chunk.chunk_id: quoted(snippets, chunk.text) for chunk in own} if snippets else {}
    return [
        _cited_range(citation, page)
        if citation.snippet is None
        else _cited_words(citation, page, [key for key, those in having.items() if citation.snippet in those])
        for citation in source.cited
    ]


def _cited_words(passage: CitedPassage, page: Page | None, chunk_ids: list[str]) -> CitedPassageView:
    """A passage that came with words, and the chunks that have them."""
    there = page is not None and (chunk_ids or content_hash(passage.snippet or "") in page.quoted)
    read = page is not None and page.state is not PageState.REJECTED and page.content_hash is not None
    return CitedPassageView(
        text=passage.snippet,
        start=passage.start,
        end=passage.end,
        state=Cited.FOUND if there else Cited.NOT_FOUND if read else Cited.UNCHECKED,
        chunk_ids=chunk_ids,
    )


def _cited_range(passage: CitedPassage, page: Page | None) -> CitedPassageView:
    """A passage of which only the range is known, with the words that the page has there."""
    ranges = () if page is None else page.ranges
    there = [chunk.text for chunk in ranges if (chunk.start, chunk.end) == (passage.start, passage.end)]
    words = there[0] if there else None
    state = Cited.UNCHECKED if not there else Cited.NOT_LOCATED if words is None else Cited.FOUND
    return CitedPassageView(
        text=None, start=passage.start, end=passage.end, state=state, chunk_ids=[], page_text=words
    )
