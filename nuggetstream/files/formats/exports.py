"""The formats that are written, and how a battle becomes their rows.

search-arena             the row of Search Arena 7k, with the nugget fields that were published with it
nuggetizer-pool          the evidence of a query, as nuggetizer reads it
nuggetizer-nuggets       the nuggets of a query
nuggetizer-assignments   the labels of an answer, one line per answer
votes                    CSV of the preferences of one lens or all
run, qrels               the ranking of the evidence, and its grades of relevance
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.domain.nugget import Support
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.formats.exporting import Export, View
from nuggetstream.files.formats.search_arena_shape import METRICS, SEARCH_ARENA

_WINNERS = {Vote.A: "model_a", Vote.B: "model_b", Vote.TIE: "tie", Vote.BOTH_BAD: "tie (bothbad)"}
_LABELS = {Support.SUPPORT, Support.PARTIAL_SUPPORT, Support.NOT_SUPPORT}
_RELEVANCE = "retrieval_relevance"  # the evaluator that grades retrieved documents
_TAG = "nuggetstream"
ALL = "all"


def _search_arena(view: View) -> Iterator[Mapping[str, Any]]:
    verdict = view.get("nugget_verdict")
    judgment = _judgment(view)
    asked = 1 + sum(turn["role"] == "user" for turn in _turns(view, "a"))
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
        "scored_nuggets": _nuggets(view),
        "winner_nuggets": _winner(verdict["preference"]) if verdict else None,
        "winner_judge": _winner(judgment["winner"]) if judgment else None,
    }
    for side in "ab":
        row[f"messages_{side}"] = _messages(view, side)
        row[f"system_{side}_metadata"] = {"web_search_trace": _trace(view[side], asked)}
        row[f"assigned_nuggets_{side}"] = _assigned(view, side)
        row[f"nugget_metrics_{side}"] = _metrics(verdict[side]) if verdict else None
    yield row


def _turns(view: View, side: str) -> Sequence[Mapping[str, Any]]:
    return view[side].get("conversation") or view.get("conversation") or ()


def _messages(view: View, side: str) -> list[dict[str, Any]]:
    earlier = [{"role": turn["role"], "content": turn["text"]} for turn in _turns(view, side)]
    answer = {"role": "assistant", "content": view[side]["text"]}
    return [*earlier, {"role": "user", "content": view["query"]}, answer]


def _trace(answer: Mapping[str, Any], asked: int) -> list[dict[str, Any]]:
    """The pages of an answer as the last entry of a trace; those of earlier turns are unknown."""
    pages = [{"url": page.get("url"), "title": page.get("title")} for page in answer.get("sources") or ()]
    return [*({"search_results": None} for _ in range(asked - 1)), {"search_results": pages}]


def _winner(vote: str | None) -> str | None:
    return None if vote is None else _WINNERS[Vote(vote)]


def _judgment(view: View) -> Mapping[str, Any] | None:
    """The verdict that speaks for all judges: the first by name, additional judges last."""
    judgments = view.get("judgments") or ()
    return min(judgments, key=lambda each: (each.get("additional", False), each["evaluator"]), default=None)


def _metrics(scores: Mapping[str, Any]) -> dict[str, Any]:
    names = {"all": "all_score"}
    return {f"{name}_score": scores.get(names.get(name, name)) for name in METRICS}


def _nuggets(view: View) -> list[dict[str, Any]]:
    return [
        {"text": nugget["text"], "importance": nugget["importance"]} for nugget in view.get("nuggets") or ()
    ]


def _assigned(view: View, side: str) -> list[dict[str, Any]] | None:
    """The nuggets with the labels of an answer; None unless every nugget has one."""
    nuggets = view.get("nuggets") or ()
    labels = [nugget.get(side) for nugget in nuggets]
    if not nuggets or None in labels:
        return None
    return [
        {"text": nugget["text"], "importance": nugget["importance"], "assignment": _label(label["support"])}
        for nugget, label in zip(nuggets, labels, strict=True)
        if label is not None
    ]


def _label(support: str) -> str:
    """A label that nuggetizer knows; another one, such as of a contradiction, is no support."""
    return support if support in _LABELS else Support.NOT_SUPPORT.value


def _pool(view: View) -> Iterator[Mapping[str, Any]]:
    if chunks := view.get("evidence"):
        candidates = [
            {"docid": chunk.get("chunk_id"), "score": chunk.get("score"), "doc": {"segment": chunk["text"]}}
            for chunk in chunks
        ]
        yield {"query": {"qid": view["id"], "text": view["query"]}, "candidates": candidates}


def _nugget_lists(view: View) -> Iterator[Mapping[str, Any]]:
    if nuggets := _nuggets(view):
        yield {"query": view["query"], "qid": view["id"], "nuggets": nuggets}


def _assignments(view: View) -> Iterator[Mapping[str, Any]]:
    for side in "ab":
        if (assigned := _assigned(view, side)) is not None:
            text = view[side]["text"]
            yield {
                "query": view["query"],
                "qid": view["id"],
                "answer_text": text,
                "response_length": len(text.split()),
                "run_id": view[side]["system"],
                "nuggets": assigned,
            }


_VOTE_COLUMNS = ("battle_id", "arena", "system_a", "system_b", "winner", "lens", "source", "language", "time")


def _votes(lens: str) -> Any:
    def rows(view: View) -> Iterator[Mapping[str, Any]]:
        for name, source, winner in _preferences(view):
            if winner is not None and lens in (ALL, name):
                yield {
                    "battle_id": view["id"],
                    "arena": view["arena"],
                    "system_a": view["a"]["system"],
                    "system_b": view["b"]["system"],
                    "winner": winner,
                    "lens": name,
                    "source": source,
                    "language": view.get("language"),
                    "time": view.get("received_at"),
                }

    return rows


def _preferences(view: View) -> Iterator[tuple[str, str, str | None]]:
    yield Lens.HUMAN.value, "vote", view.get("human_vote")
    verdict = view.get("nugget_verdict")
    yield Lens.NUGGET.value, "nuggets", verdict["preference"] if verdict else None
    for judgment in view.get("judgments") or ():
        yield Lens.JUDGE.value, judgment["evaluator"], judgment["winner"]


def _run(view: View) -> Iterator[str]:
    for rank, chunk in enumerate(view.get("evidence") or (), start=1):
        if chunk.get("chunk_id"):
            score = chunk.get("score")
            shown = 1 / rank if score is None else score
            yield f"{_field(view['id'])} Q0 {_field(chunk['chunk_id'])} {rank} {shown} {_TAG}"


def _qrels(view: View) -> Iterator[str]:
    for grading in view.get("gradings") or ():
        if grading["evaluator"] != _RELEVANCE:
            continue
        for grade in grading["grades"]:
            if grade.get("document") and grade.get("value") is not None:
                yield f"{_field(view['id'])} 0 {_field(grade['document'])} {round(grade['value'])}"


def _field(text: str) -> str:
    """A field between white space: white space inside of it is written as in URLs."""
    return re.sub(r"\s", lambda found: quote(found[0]), text)


_NO_NUGGETS = "battles without nuggets"
EXPORTS: list[Export] = [
    Export(
        name="search-arena",
        title="Search Arena",
        rows=_search_arena,
        kept="messages, vote, pages, language, tags; evidence, nuggets, labels, scores, preferences",
        lost="quotes, causes, provenance, grades, probabilities, failures, cost; texts of pages",
        shape=SEARCH_ARENA,
    ),
    Export(
        name="nuggetizer-pool",
        title="nuggetizer pool",
        rows=_pool,
        kept="query (qid is the id of the battle), evidence by rank with scores",
        lost="all else, earlier turns included; battles without evidence",
    ),
    Export(
        name="nuggetizer-nuggets",
        title="nuggetizer nuggets",
        rows=_nugget_lists,
        kept="query, nuggets with importance",
        lost=f"all else, earlier turns included; {_NO_NUGGETS}",
    ),
    Export(
        name="nuggetizer-assignments",
        title="nuggetizer assignments",
        rows=_assignments,
        kept="query, answers, nuggets with importance and label; a contradiction is written as not_support",
        lost=f"all else, earlier turns included; {_NO_NUGGETS} and answers without all labels",
    ),
    Export(
        name="votes",
        title="votes",
        rows=_votes(Lens.HUMAN.value),
        kept="preferences of people, or with --lens of nuggets, judges or all",
        lost="all else; battles without a preference",
        columns=_VOTE_COLUMNS,
    ),
    Export(
        name="run",
        title="TREC run",
        rows=_run,
        kept="id of the battle, ids of the evidence, rank, score; white space in ids becomes %20",
        lost="all else; battles without evidence",
    ),
    Export(
        name="qrels",
        title="TREC qrels",
        rows=_qrels,
        kept="id of the battle, document, grade of the evaluator `retrieval_relevance`",
        lost="all else; battles without such grades",
    ),
]
"""Every format that is written."""


def export_named(name: str, lens: str | None = None) -> Export:
    """The format that options call by this name.

    Args:
        name: Its name.
        lens: Whose votes: "human", "nugget", "judge" or "all"; only for votes.

    Raises:
        UnusableFile: There is no such format, or it has no votes of lenses.
    """
    found = next((known for known in EXPORTS if known.name == name), None)
    if found is None:
        raise UnusableFile(
            f"there is no format {name!r}; there are {', '.join(each.name for each in EXPORTS)}"
        )
    if lens is None:
        return found
    if not found.columns:
        raise UnusableFile(f"--lens is for votes, and {found.title} has none")
    lenses = [ALL, *(known.value for known in INDEPENDENT)]
    if lens not in lenses:
        raise UnusableFile(f"there is no lens {lens!r}; there are {', '.join(lenses)}")
    return replace(found, rows=_votes(lens))
