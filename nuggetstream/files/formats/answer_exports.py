"""Evaluated battles as answers of runs: those of TREC RAG and RAGDoll, and RAGElo's tables.

The id of a battle is the id of its topic or query, so answers to the same query in two battles stay apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nuggetstream.files.formats.exporting import Export, View
from nuggetstream.files.formats.pairing import DOCUMENT
from nuggetstream.text.citations import without_citations
from nuggetstream.text.cited_sentences import citing_sentences, worded_spans

_RAGELO = {"a": "A", "b": "B", "tie": "C", "both_bad": "C"}
_RAGDOLL = {"a": "A", "b": "B", "tie": "Tie", "both_bad": "Tie"}


def _trec_rag_2024(view: View) -> Iterator[Mapping[str, Any]]:
    for answer in (view["a"], view["b"]):
        cited = _cited(answer)
        yield {
            "run_id": answer["system"],
            "topic_id": view["id"],
            "topic": view["query"],
            "references": cited["references"],
            "response_length": len(without_citations(answer["text"]).split()),
            "answer": cited["answer"],
        }


def _trec_rag_2025(view: View) -> Iterator[Mapping[str, Any]]:
    for answer in (view["a"], view["b"]):
        metadata = {"run_id": answer["system"], "narrative_id": view["id"], "narrative": view["query"]}
        yield {"metadata": metadata, **_cited(answer)}


def _cited(answer: Mapping[str, Any]) -> dict[str, Any]:
    references = [page["url"].removeprefix(DOCUMENT) for page in answer.get("sources") or ()]
    return {"references": references, "answer": _sentences(answer["text"], len(references))}


def _sentences(text: str, references: int) -> list[dict[str, Any]]:
    """The sentences of an answer with the references that they cite, which count from 0."""
    cited: dict[int, list[int]] = {}
    for citing in citing_sentences(text, references)[0]:
        cited.setdefault(citing.sentence, []).append(citing.source)
    return [
        {"text": without_citations(text[start:end]).strip(), "citations": cited.get(number, [])}
        for number, (start, end) in enumerate(worded_spans(text), start=1)
    ]


def _ragdoll(view: View) -> Iterator[Mapping[str, Any]]:
    for answer in (view["a"], view["b"]):
        yield {
            "run_id": answer["system"],
            "qid": view["id"],
            "query": view["query"],
            "answer_text": answer["text"],
        }


def _ragdoll_judgments(view: View) -> Iterator[Mapping[str, Any]]:
    systems = {side: view[side]["system"] for side in "ab"}
    for judgment in view.get("judgments") or ():
        winner = judgment["winner"]
        yield {
            "task_id": f"{view['arena']}:{systems['a']}:{systems['b']}:{view['id']}",
            "qid": view["id"],
            "query": view["query"],
            "pair": [systems["a"], systems["b"]],
            "assistant_a_run_id": systems["a"],
            "assistant_b_run_id": systems["b"],
            "judge_verdict": _RAGDOLL[winner],
            "preferred_run_id": systems.get(winner),
            "model": judgment.get("model"),
            "status": "completed",
            "error": None,
            "raw_output": _reasoning(judgment),
        }


def _ragelo_queries(view: View) -> Iterator[Mapping[str, Any]]:
    yield {"qid": view["id"], "query": view["query"]}


def _ragelo_answers(view: View) -> Iterator[Mapping[str, Any]]:
    for answer in (view["a"], view["b"]):
        yield {"qid": view["id"], "agent": answer["system"], "answer": answer["text"]}


def _ragelo_documents(view: View) -> Iterator[Mapping[str, Any]]:
    for side in "ab":
        passages: dict[str, list[str]] = {}
        for chunk in view.get("evidence") or ():
            if side in chunk.get("cited_by", ()):
                passages.setdefault(chunk["url"] or chunk["chunk_id"], []).append(chunk["text"])
        for url, texts in passages.items():
            yield {
                "did": url.removeprefix(DOCUMENT),
                "document": "\n\n".join(texts),
                "qid": view["id"],
                "agent": view[side]["system"],
            }


def _ragelo_verdicts(view: View) -> Iterator[Mapping[str, Any]]:
    for judgment in view.get("judgments") or ():
        yield {
            "qid": view["id"],
            "agent_a": view["a"]["system"],
            "agent_b": view["b"]["system"],
            "raw_answer": _reasoning(judgment),
            "answer": _RAGELO[judgment["winner"]],
        }


def _reasoning(judgment: Mapping[str, Any]) -> str:
    """What the judge wrote, once per order of the answers."""
    verdicts: Sequence[Mapping[str, Any]] = judgment.get("verdicts") or ()
    return "\n".join(reasoning for verdict in verdicts if (reasoning := verdict.get("reasoning")))


_REST = "all else"
_LOST_IN_SENTENCES = "line breaks of answers, and numbers cited that no source has"
EXPORTS = [
    Export(
        name="trec-rag-2024",
        title="TREC RAG 2024 answers",
        rows=_trec_rag_2024,
        kept="query, every answer by sentence, references and citations; the topic is the id of the battle",
        lost=f"{_REST}; {_LOST_IN_SENTENCES}",
    ),
    Export(
        name="trec-rag-2025",
        title="TREC RAG 2025 answers",
        rows=_trec_rag_2025,
        kept="the same; the narrative is the query, and its id that of the battle",
        lost=f"{_REST}; {_LOST_IN_SENTENCES}",
    ),
    Export(
        name="ragdoll",
        title="RAGDoll answers",
        rows=_ragdoll,
        kept="query, answers; qid is the id of the battle",
        lost=f"{_REST}; sources",
    ),
    Export(
        name="ragdoll-judgments",
        title="RAGDoll judgments",
        rows=_ragdoll_judgments,
        kept="the verdict of every judge with its reasoning and model",
        lost="all else; battles without a verdict",
    ),
    Export(
        name="ragelo-queries",
        title="RAGElo queries",
        rows=_ragelo_queries,
        kept="query (qid is the id of the battle), for `queries.csv`",
        lost=_REST,
        columns=("qid", "query"),
    ),
    Export(
        name="ragelo-answers",
        title="RAGElo answers",
        rows=_ragelo_answers,
        kept="answers, for `answers.csv` beside `queries.csv`",
        lost=_REST,
        columns=("qid", "agent", "answer"),
    ),
    Export(
        name="ragelo-documents",
        title="RAGElo documents",
        rows=_ragelo_documents,
        kept="sources of each answer with their passages of the evidence, for `documents.csv`",
        lost="all else; sources without evidence, evidence of other pages",
        columns=("did", "document", "qid", "agent"),
    ),
    Export(
        name="ragelo-verdicts",
        title="RAGElo verdicts",
        rows=_ragelo_verdicts,
        kept="the verdict of every judge as A, B or C, with its reasoning",
        lost="all else; battles without a verdict",
        columns=("qid", "agent_a", "agent_b", "raw_answer", "answer"),
    ),
]
"""The formats of this module."""
