"""Battles of CrowdRAG-25 for `llm.py`, as the retriever passes them on."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from benchmarks.offline_agreement import chunks, load
from nuggetstream.domain.battle import Answer, Battle
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.identity import derived_id
from nuggetstream.text.terms import terms

PASSAGES = 50
FETCHED = datetime(2026, 1, 1, tzinfo=UTC)


class Ranking:
    """All passages, ranked by BM25.

    Args:
        texts: The passages.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._model = bm25s.BM25(method="lucene")
        self._model.index([terms(text) for text in texts], show_progress=False)

    def of(self, query: str) -> list[str]:
        """The passages, those that resemble the query most first."""
        known = [term for term in terms(query) if term in self._model.vocab_dict]
        order = np.argsort(-self._model.get_scores(known), kind="stable")
        return [self._texts[number] for number in order]


def battles(folder: Path, count: int) -> list[BattleRetrieved]:
    """So many battles, evenly spread over the file, with `PASSAGES` passages each.

    They are the passages that an answer cites, and of all others those that resemble the query most.
    """
    passages = _passages(folder)
    ranking = Ranking(list(dict.fromkeys(passages.values())))
    rows = list(load(folder / "battles.jsonl.gz"))
    chosen = rows[:: max(1, len(rows) // count)][:count]
    return [retrieved(row, evidence_of(row, passages, ranking)) for row in chosen]


def evidence_of(row: dict[str, Any], passages: dict[str, str], ranking: Ranking) -> list[str]:
    """The passages of a battle, ranked by the query."""
    cited = {passages[docid] for side in ("a", "b") for docid in row[side]["citations"]}
    ranked = ranking.of(row["query"])
    others = [text for text in ranked if text not in cited][: PASSAGES - len(cited)]
    return [text for text in ranked if text in cited.union(others)]


def whole_topics(folder: Path, count: int) -> list[BattleRetrieved]:
    """The first battles in the order of their topics, with what they cite in chunks of ten sentences."""
    passages = _passages(folder)
    rows = sorted(load(folder / "battles.jsonl.gz"), key=lambda row: row["topic"])
    return [retrieved(row, chunks(row, passages)) for row in rows[:count]]


def retrieved(row: dict[str, Any], texts: Sequence[str]) -> BattleRetrieved:
    """A battle with these texts as evidence, best first."""
    a, b = (Answer(row[side]["system"], row[side]["text"]) for side in ("a", "b"))
    evidence = tuple(
        Evidence(
            chunk_id=derived_id("chunk", text),
            text=text,
            url=f"https://documents.example/{number}",
            title=None,
            content_hash=derived_id("content", text),
            fetched_at=FETCHED,
            cited_by=(),
            score=1.0 / (1 + number),
        )
        for number, text in enumerate(texts)
    )
    battle = Battle(id=row["battle_id"], arena="bench", query=row["query"], a=a, b=b, language="en")
    return BattleRetrieved(derived_id("retrieved", battle.id), battle, (), evidence, "bm25")


def _passages(folder: Path) -> dict[str, str]:
    return {document["docid"]: document["text"] for document in load(folder / "documents.jsonl.gz")}
