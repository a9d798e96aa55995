"""The sources of an answer as arenas send them, with the passages that the answer cites."""

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import AliasChoices, Field, model_validator

from nuggetstream.domain.battle import CitedPassage, Source
from nuggetstream.domain.identity import content_hash
from nuggetstream.files.fields import EMPTY_IS_ABSENT, Strict, Text, at_most, few

MAX_SOURCE_BYTES = 5_000_000
MAX_SNIPPET_BYTES = 10_000
MAX_PASSAGES = 50  # of one source
INLINE_URL = "inline:"

Position = Annotated[int, Field(ge=0, le=MAX_SOURCE_BYTES)]
_SNIPPET = AliasChoices("snippet", "cited_text", "quote", "excerpt")
_START = AliasChoices("start", "start_char", "start_char_index")
_END = AliasChoices("end", "end_char", "end_char_index")


class _Passage(Strict):
    snippet: Annotated[Annotated[Text, at_most(MAX_SNIPPET_BYTES)] | None, EMPTY_IS_ABSENT] = Field(
        None, validation_alias=_SNIPPET
    )
    start: Position | None = Field(None, validation_alias=_START)
    end: Position | None = Field(None, validation_alias=_END)

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise ValueError("start and end: one is given without the other")
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError(f"start and end: {self.start} to {self.end} is no range")
        return self

    def passage_of(self, text: str | None) -> CitedPassage:
        """The cited passage; a range of a supplied text gives its words."""
        snippet = self.snippet
        if snippet is None and text is not None and self.start is not None:
            snippet = within_limit(text[self.start : self.end]) or None
        return CitedPassage(snippet, self.start, self.end)


class PassageSubmission(_Passage):
    """A passage of a page that an answer cites: `snippet` in words, its range, or both."""

    @model_validator(mode="after")
    def _has_either(self) -> "PassageSubmission":
        if self.snippet is None and self.start is None:
            raise ValueError("has neither a snippet nor a range")
        return self


class SourceSubmission(_Passage):
    """A page that a system searched or cited: a URL to fetch, or a supplied text.

    The cited passage can come with it: `snippet` in words, `start` and `end` as the range of its characters
    in the text of the page. Further ones are in `passages`.
    """

    url: Annotated[Annotated[Text, Field(max_length=8_000)] | None, EMPTY_IS_ABSENT] = None
    title: Annotated[Annotated[Text, Field(max_length=2_000)] | None, EMPTY_IS_ABSENT] = None
    text: Annotated[Text, at_most(MAX_SOURCE_BYTES)] | None = None
    passages: Annotated[tuple[PassageSubmission, ...], Field(max_length=MAX_PASSAGES), few(MAX_PASSAGES)] = ()

    @model_validator(mode="after")
    def _has_either(self) -> "SourceSubmission":
        if not self.url and self.text is None:
            raise ValueError("has neither a url nor a text")
        return self

    @model_validator(mode="after")
    def _ends_within_its_text(self) -> "SourceSubmission":
        length = None if self.text is None else len(self.text)
        for name, end in (
            ("end", self.end),
            *((f"passages.{n}.end", passage.end) for n, passage in enumerate(self.passages)),
        ):
            if length is not None and end is not None and end > length:
                raise ValueError(f"{name}: is {end}, after the {length} characters of the text")
        return self

    def to_core(self) -> Source:
        """The source; a text without a URL is named after its content."""
        url = self.url or f"{INLINE_URL}{content_hash(self.text or '')[:16]}"
        passages = [passage.passage_of(self.text) for passage in (self, *self.passages)]
        source = Source(url=url, title=self.title, text=self.text)
        return source.citing(passage for passage in passages if passage != CitedPassage())


def sources_of(submitted: Iterable[SourceSubmission]) -> tuple[Source, ...]:
    """The sources of an answer. One that is named twice counts once, with the cited passages of both."""
    first: dict[str, Source] = {}
    for source in (sent.to_core() for sent in submitted):
        earlier = first.get(source.url)
        first[source.url] = source if earlier is None else earlier.citing([*earlier.cited, *source.cited])
    return tuple(first.values())


def within_limit(text: str) -> str:
    """A text, cut to the length that a snippet may have."""
    return text.encode("utf-8")[:MAX_SNIPPET_BYTES].decode("utf-8", "ignore")
