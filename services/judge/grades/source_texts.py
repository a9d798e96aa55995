"""The texts of an answer's sources as an evaluator compares sentences with them.

    sentence  ->  search in all stored chunks of the answer's sources  ->  the source to compare it with

A source is shown by the best chunks that were retrieved of it for the query, and by those that the search
found for a sentence, wherever in the page they are.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nuggetstream.domain.battle import Answer
from nuggetstream.domain.evidence import Evidence
from nuggetstream.text.cited_sentences import Citing
from nuggetstream.text.passage_search import PassageSearch
from services.judge.evaluator import Material

_CHUNKS = 4  # of those retrieved, per source


@dataclass(slots=True)
class SourceTexts:
    """What is known of the sources of one answer, by position.

    Attributes:
        retrieved: The best chunks that were retrieved of each, best first.
        stored: All chunks of each; empty where nothing is searched for.
        found: Chunks that a search found.
    """

    retrieved: Mapping[int, Sequence[str]]
    stored: Mapping[int, Sequence[str]]
    found: dict[int, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: Answer, material: Material) -> "SourceTexts":
        """The texts of the sources of an answer."""
        by_page: dict[str, list[Evidence]] = {}
        for chunk in material.retrieved:
            by_page.setdefault(chunk.content_hash, []).append(chunk)
        hashes = {page.url: page.content_hash for page in material.pages}
        hashes |= {chunk.url: chunk.content_hash for chunk in material.retrieved if chunk.url is not None}
        pages = [(number, hashes.get(source.url) or "") for number, source in enumerate(answer.sources)]
        return cls(
            {
                number: [chunk.text for chunk in by_page[key][:_CHUNKS]]
                for number, key in pages
                if key in by_page
            },
            {number: material.stored[key] for number, key in pages if material.stored.get(key)},
        )

    def search(
        self, sentences: Iterable[tuple[int, str]], without: Mapping[int, Collection[int]] | None = None
    ) -> list[Citing]:
        """Each sentence with the source that has the passage closest to it, which is shown from now on.

        A sentence that shares no term with any source is compared with the first source.

        Args:
            sentences: Number and text of each.
            without: Sources that a sentence is not searched for in, by its number.
        """
        passages = {**self.retrieved, **self.stored}
        search = PassageSearch(passages)
        chosen = list[Citing]()
        for number, text in sentences:
            excluded = () if without is None else without.get(number, ())
            passage = search.best(text, excluded)
            if passage is None:
                passage = next(((source, 0) for source in sorted(passages) if source not in excluded), None)
            if passage is not None:
                source, chunk = passage
                self.found.setdefault(source, []).append(passages[source][chunk])
                chosen.append(Citing(number, source, text))
        return chosen

    def text(self, source: int) -> str:
        """The text of a source that sentences are compared with."""
        return "\n".join(dict.fromkeys([*self.retrieved.get(source, ()), *self.found.get(source, ())]))
