"""Evaluated battles as the rows of public arenas: Search Arena, Chatbot Arena and ComparIA."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.files.formats.arena_shapes import CHATBOT_ARENA, COMPARIA, METRICS, SEARCH_ARENA
from nuggetstream.files.formats.exporting import Export, View
from nuggetstream.files.formats.nuggetizer_exports import assigned, scored

_WINNERS = {Vote.A: "model_a", Vote.B: "model_b", Vote.TIE: "tie", Vote.BOTH_BAD: "tie (bothbad)"}
_CATEGORY = "category:"  # tags that came from ComparIA, and go back


def _search_arena(view: View) -> Iterator[Mapping[str, Any]]:
    verdict = view.get("nugget_verdict")
    judgment = speaking_judgment(view)
    asked = _asked(view)
    row: dict[str, Any] = {
        "battle_id": view["id"],
        "arena": view["arena"],
        "model_a": view["a"]["system"],
        "model_b": view["b"]["system"],
        "winner": _winner(view.get("human_vote")),
        "turn": asked,
        "language": view.get("language") or None,
        "timestamp": view.get("received_at"),
        "tags": list(view.get("tags") or ()),
        "nugget_documents": [
            {"docid": chunk.get("chunk_id"), "segment": chunk["text"]} for chunk in view.get("evidence") or ()
        ],
        "scored_nuggets": scored(view),
        "winner_nuggets": _winner(verdict["preference"]) if verdict else None,
        "winner_judge": _winner(judgment["winner"]) if judgment else None,
    }
    for side in "ab":
        row[f"messages_{side}"] = _messages(view, side)
        row[f"system_{side}_metadata"] = {"web_search_trace": _trace(view[side], asked)}
        row[f"assigned_nuggets_{side}"] = assigned(view, side)
        row[f"nugget_metrics_{side}"] = _metrics(verdict[side]) if verdict else None
    yield row


def _asked(view: View) -> int:
    """Number of messages of the user."""
    return 1 + len([turn for turn in _turns(view, "a") if turn["role"] == "user"])


def _turns(view: View, side: str) -> Sequence[Mapping[str, Any]]:
    return view[side].get("conversation") or view.get("conversation") or ()


def _messages(view: View, side: str) -> list[dict[str, Any]]:
    earlier = [{"role": turn["role"], "content": turn["text"]} for turn in _turns(view, side)]
    answer = {"role": "assistant", "content": view[side]["text"]}
    return [*earlier, {"role": "user", "content": view["query"]}, answer]


def _trace(answer: Mapping[str, Any], asked: int) -> list[dict[str, Any]]:
    """The pages of an answer as the last entry of a trace; those of earlier turns are unknown."""
    pages = [result for page in answer.get("sources") or () for result in _results(page)]
    return [*({"search_results": None} for _ in range(asked - 1)), {"search_results": pages}]


def _results(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A page as search results: one for each cited passage with words, which is its snippet."""
    result = {"url": page.get("url"), "title": page.get("title")}
    snippets = [cited["text"] for cited in page.get("cited") or () if cited.get("text")]
    return [result | {"snippet": snippet} for snippet in snippets] or [result]


def _winner(vote: str | None) -> str | None:
    return None if vote is None else _WINNERS[Vote(vote)]


def speaking_judgment(view: View) -> Mapping[str, Any] | None:
    """The verdict that speaks for all judges: the first by name, additional judges last."""
    judgments = view.get("judgments") or ()
    return min(
        judgments,
        key=lambda judgment: (judgment.get("additional", False), judgment["evaluator"]),
        default=None,
    )


def _metrics(scores: Mapping[str, Any]) -> dict[str, Any]:
    names = {"all": "all_score"}
    return {f"{name}_score": scores.get(names.get(name, name)) for name in METRICS}


def _chatbot_arena(view: View) -> Iterator[Mapping[str, Any]]:
    received = view.get("received_at")
    yield {
        "question_id": view["id"],
        "model_a": view["a"]["system"],
        "model_b": view["b"]["system"],
        "winner": _winner(view.get("human_vote")),
        "conversation_a": _messages(view, "a"),
        "conversation_b": _messages(view, "b"),
        "turn": _asked(view),
        "language": view.get("language") or None,
        "tstamp": None if received is None else datetime.fromisoformat(received).timestamp(),
    }


def _comparia(view: View) -> Iterator[Mapping[str, Any]]:
    vote, systems = view.get("human_vote"), {side: view[side]["system"] for side in "ab"}
    conversations = {side: _messages(view, side) for side in "ab"}
    tags = [tag.removeprefix(_CATEGORY) for tag in view.get("tags") or () if tag.startswith(_CATEGORY)]
    yield {
        "conversation_pair_id": view["id"],
        "timestamp": view.get("received_at"),
        "model_a_name": systems["a"],
        "model_b_name": systems["b"],
        "chosen_model_name": systems.get(vote) if vote else None,
        "both_equal": vote == Vote.TIE,
        "opening_msg": next(turn["content"] for turn in conversations["a"] if turn["role"] == "user"),
        "conversation_a": conversations["a"],
        "conversation_b": conversations["b"],
        "conv_turns": _asked(view),
        "categories": tags,
        "languages": [view["language"]] if view.get("language") else [],
    }


_RESULTS_LOST = "nuggets, labels, verdicts, grades, evidence, sources, cost"
EXPORTS = [
    Export(
        name="search-arena",
        title="Search Arena",
        rows=_search_arena,
        kept="messages, vote, pages, language, tags; evidence, nuggets, labels, scores, preferences",
        lost="grounding, contradictions (written as not_support), quotes, causes, provenance, grades, "
        "probabilities, who set labels, failures, cost; texts of pages",
        shape=SEARCH_ARENA,
    ),
    Export(
        name="chatbot-arena",
        title="LMSYS and Chatbot Arena",
        rows=_chatbot_arena,
        kept="id, messages, vote, language, time",
        lost=f"arena, tags; {_RESULTS_LOST}",
        shape=CHATBOT_ARENA,
    ),
    Export(
        name="comparia",
        title="ComparIA",
        rows=_comparia,
        kept="id, messages, vote, categories, language, time",
        lost=f"arena, other tags, votes that both are bad, which become no vote; {_RESULTS_LOST}",
        shape=COMPARIA,
    ),
]
"""The formats of this module."""
