"""The two ways to create a nugget list: in one call (live), or window by window (paper)."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from nuggetstream.domain.nugget import Importance, MergedNugget, Provenance, Revision
from nuggetstream.text.citations import without_citations
from nuggetstream.text.markup import blank_code, prose
from nuggetstream.text.non_answers import is_non_answer
from services.nuggetizer import prompts
from services.nuggetizer.documents import Document
from services.nuggetizer.near_duplicates import fact_of
from services.runtime.llm.blocks import Block
from services.runtime.llm.model import ChatModel
from services.runtime.llm.replies import NuggetsReply

T = TypeVar("T")

_STAGE = "nuggetizer"


@dataclass(frozen=True, slots=True)
class Draft:
    """One nugget before it has an id; see `Nugget`."""

    text: str
    importance: Importance
    provenance: tuple[Provenance, ...]
    vital_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """A finished list and how it was created.

    Attributes:
        drafts: The nuggets, vital ones first.
        history: One revision per step, oldest first.
        model: Chat model that created them.
        prompt_version: Version of the prompt.
    """

    drafts: list[Draft]
    history: list[Revision]
    model: str
    prompt_version: str


async def create_live(
    model: ChatModel, query: str, documents: Sequence[Document], *, limit: int, battle_id: str
) -> Created:
    """Create a list in one call over all documents.

    Args:
        model: Chat model used for the call.
        query: The user's question.
        documents: The documents to read.
        limit: Maximum number of nuggets.
        battle_id: Battle that the call is booked to.
    """
    prompt = prompts.all_at_once(query, [document.block for document in documents], limit)
    reply = await model.ask(prompt, stage=_STAGE, battle_id=battle_id)
    distinct, merged = without_repetitions(_drafts(reply.value, documents))
    drafts = trim(distinct, limit)
    read = tuple(document.provenance.document for document in documents)
    revision = Revision(read, tuple(draft.text for draft in drafts), merged)
    return Created(drafts, [revision], reply.model, reply.prompt_version)


async def added(
    model: ChatModel,
    query: str,
    nuggets: Sequence[str],
    documents: Sequence[Document],
    *,
    limit: int,
    battle_id: str,
) -> list[Draft]:
    """What answers add to a list that was created without them.

    Args:
        model: Chat model used for the call.
        query: The user's question.
        nuggets: Texts of the nuggets in the list.
        documents: The answers.
        limit: Maximum number of nuggets that they add.
        battle_id: Battle that the call is booked to.
    """
    prompt = prompts.additions(query, nuggets, [document.block for document in documents], limit)
    reply = await model.ask(prompt, stage=_STAGE, battle_id=battle_id)
    return trim(_drafts(reply.value, documents), limit)


async def create_in_windows(
    model: ChatModel,
    query: str,
    documents: Sequence[Document],
    *,
    limit: int,
    window: int,
    battle_id: str,
) -> Created:
    """Create a list by rewriting it window by window, then label the importance of its nuggets in windows.

    The provenance of a nugget is the window in which its wording first appeared, because the model is not
    asked for more in this profile.

    Args:
        model: Chat model used for every call.
        query: The user's question.
        documents: The documents to read.
        limit: Maximum number of nuggets.
        window: Number of documents, or of nuggets to label, per call.
        battle_id: Battle that the calls are booked to.
    """
    texts: list[str] = []
    history: list[Revision] = []
    origin: dict[str, tuple[Provenance, ...]] = {}
    reply_model, version = model.name, prompts.VERSION
    for part in _windows(documents, window):
        prompt = prompts.one_window(query, [document.block for document in part], texts, limit)
        reply = await model.ask(prompt, stage=_STAGE, battle_id=battle_id)
        reply_model, version = reply.model, reply.prompt_version
        texts = _distinct(reply.value.texts(texts))[:limit]
        for text in texts:
            origin.setdefault(text, tuple(document.provenance for document in part))
        history.append(Revision(tuple(d.provenance.document for d in part), tuple(texts)))
    labels = await _importance(model, query, texts, window, battle_id)
    drafts = [Draft(text, labels[text], origin[text]) for text in texts]
    return Created(trim(drafts, limit), history, reply_model, version)


def without_repetitions(drafts: Sequence[Draft]) -> tuple[list[Draft], tuple[MergedNugget, ...]]:
    """Nuggets without near-duplicates of earlier ones, and what was merged into what; see `near_duplicates`.

    The first wording stays. It is vital if either was, and has the provenance of both.
    """
    first: dict[tuple[str, ...], Draft] = {}
    merged = []
    for draft in drafts:
        words = fact_of(draft.text)
        if (earlier := first.get(words)) is None:
            first[words] = draft
            continue
        first[words] = _merge(earlier, draft)
        if draft.text != earlier.text:
            merged.append(MergedNugget(draft.text, earlier.text))
    return list(first.values()), tuple(merged)


def trim(drafts: Sequence[Draft], limit: int) -> list[Draft]:
    """At most `limit` distinct nuggets, vital ones first; above the limit, okay nuggets are dropped first.

    That an author does not know is no fact, and neither is the example of the prompt, a piece of code, a row
    of a table or a heading. A fact that is listed twice becomes one nugget in its first wording. It is vital
    if either was, and has the provenance of both. Marks of citations, such as [1], number the sources of an
    answer and are no part of a fact.
    """
    merged: dict[str, Draft] = {}
    for draft in (replace(draft, text=without_citations(draft.text).strip()) for draft in drafts):
        name = _normal(draft.text)
        is_prose = prose(blank_code(draft.text)).strip()
        if not name or not is_prose or prompts.is_example(draft.text) or is_non_answer(draft.text):
            continue
        merged[name] = _merge(merged[name], draft) if name in merged else draft
    return sorted(merged.values(), key=lambda draft: draft.importance is not Importance.VITAL)[:limit]


def _drafts(reply: NuggetsReply, documents: Sequence[Document]) -> list[Draft]:
    provenance = {document.block.id: document.provenance for document in documents}
    return [
        Draft(
            prompts.complete(nugget.text).strip(),
            Importance(nugget.importance),
            tuple(provenance[name] for name in dict.fromkeys(nugget.sources) if name in provenance),
        )
        for nugget in reply.nuggets
    ]


def _merge(first: Draft, again: Draft) -> Draft:
    chosen = next((draft for draft in (first, again) if draft.importance is Importance.VITAL), first)
    provenance = tuple(dict.fromkeys((*first.provenance, *again.provenance)))
    return replace(chosen, text=first.text, provenance=provenance)


async def _importance(
    model: ChatModel, query: str, texts: Sequence[str], window: int, battle_id: str
) -> dict[str, Importance]:
    """The importance of every nugget; windows do not depend on each other and are asked at the same time."""

    async def labels_of(part: Sequence[str]) -> dict[str, Importance]:
        blocks = [Block("nugget", f"n{i}", text) for i, text in enumerate(part, start=1)]
        reply = await model.ask(prompts.importance(query, blocks), stage=_STAGE, battle_id=battle_id)
        given = {label.id: Importance(label.importance) for label in reply.value.labels}
        return {block.text: given[block.id] for block in blocks}

    parts = await asyncio.gather(*map(labels_of, _windows(texts, window)))
    return {text: importance for part in parts for text, importance in part.items()}


def _windows(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _distinct(texts: Sequence[str]) -> list[str]:
    first = {_normal(text): text.strip() for text in reversed(texts) if text.strip()}
    return [text.strip() for text in texts if first.pop(_normal(text), None) is not None]


def _normal(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。")
