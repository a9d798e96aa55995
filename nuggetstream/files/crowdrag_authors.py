"""The author and the style of every answer of CrowdRAG-25, as far as the recorded files tell them.

The file responses.jsonl.gz of the full corpus names them. Without it three sources are combined:

1. battles.jsonl.gz names the system of every answer on the topics that it covers. 2. The id of an answer of
the LLM is a name-based UUID of topic, style and "llm". 3. Most questionnaires show all their pairs in one
order: bullets before essay before news, and within one style
   the human answer before that of the LLM. All pairs of such a questionnaire follow that order, which often
   leaves only one assignment of a topic's three human answers to the three styles.

Where several assignments remain, the answers stay without an author. The third source is an inference; it
can be checked on topics whose authors are known by leaving those authors out.

Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025; the namespace
is the one of their script that collected the LLM's answers.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import permutations
from pathlib import Path

from nuggetstream.files.crowdrag import Pair, Row, rows_of

STYLES = ("bullet", "essay", "news")
_USUAL_ORDER = [f"{kind}-{style}" for style in STYLES for kind in ("human", "llm")]
_RANK = {system: rank for rank, system in enumerate(_USUAL_ORDER)}
_NAMESPACE = uuid.UUID("0e8b439f-cc41-4468-81c1-f2cf514851d9")

# Answer -> (topic, system such as "human-essay").
Authors = dict[str, tuple[str, str]]
# The pairs of one questionnaire, each as (left answer, right answer).
Shown = Collection[Pair]


def read_authors(folder: Path) -> Authors:
    """Answer -> (topic, system such as "human-essay"), for every answer whose author can be determined.

    Raises:
        UnusableFile: Names the file, the line and the problem.
    """
    full = folder / "responses.jsonl.gz"
    if full.exists():
        return dict(
            rows_of(full, lambda row: (row["response"], (row["topic"], f"{row['kind']}-{row['style']}")))
        )
    topics, questionnaires = _read_shown(folder)
    named = _read_named(folder) | by_id(topics)
    return named | by_order(topics, questionnaires, named)


def by_id(topics: Mapping[str, str]) -> Authors:
    """The authors of answers whose id shows that the LLM wrote them.

    Args:
        topics: Answer -> topic.
    """
    ids = {
        str(uuid.uuid3(_NAMESPACE, f"{topic}{style}llm")): (topic, f"llm-{style}")
        for topic in set(topics.values())
        for style in STYLES
    }
    return {answer: ids[answer] for answer in topics if answer in ids}


def by_order(topics: Mapping[str, str], questionnaires: Iterable[Shown], author_of: Authors) -> Authors:
    """The authors of human answers for which one assignment alone keeps every ordered questionnaire in order.

    A questionnaire is ordered when it shows pairs of known authors, all of them in the usual order.

    Args:
        topics: Answer -> topic.
        questionnaires: The pairs that each questionnaire showed.
        author_of: Authors known from other sources. On a topic all of whose other answers are known, the
            unknown answers are the missing systems.
    """
    shown = [pair for pairs in questionnaires if _is_ordered(pairs, author_of) for pair in pairs]
    unknown: dict[str, list[str]] = defaultdict(list)
    for answer in topics:
        if answer not in author_of:
            unknown[topics[answer]].append(answer)
    authors: Authors = {}
    for topic, answers in unknown.items():
        taken = {system for of_topic, system in author_of.values() if of_topic == topic}
        missing = [system for system in _USUAL_ORDER if system not in taken]
        pairs = [pair for pair in shown if topics[pair[0]] == topic]
        assignment = _only_assignment(answers, missing, pairs, author_of)
        authors |= {answer: (topic, system) for answer, system in assignment.items()}
    return authors


def _only_assignment(
    answers: list[str], missing: list[str], shown: list[Pair], authors: Authors
) -> Mapping[str, str]:
    """Answer -> system where exactly one assignment keeps every pair in order; else an empty mapping."""
    if len(answers) != len(missing):
        return {}
    assignments = []
    for systems in permutations(missing):
        assignment = dict(zip(answers, systems, strict=True))
        rank = {answer: _RANK[system] for answer, system in assignment.items()}
        rank |= {answer: _RANK[authors[answer][1]] for pair in shown for answer in pair if answer in authors}
        if all(rank[left] < rank[right] for left, right in shown):
            assignments.append(assignment)
    return assignments[0] if len(assignments) == 1 else {}


def _is_ordered(pairs: Shown, authors: Authors) -> bool:
    both = [
        (authors[left][1], authors[right][1]) for left, right in pairs if left in authors and right in authors
    ]
    return bool(both) and all(_RANK[left] < _RANK[right] for left, right in both)


def _read_named(folder: Path) -> Authors:
    authors: Authors = {}
    for of_battle in rows_of(folder / "battles.jsonl.gz", _named):
        authors |= of_battle
    return authors


def _named(row: Row) -> Authors:
    sides = [row[side] for side in ("a", "b")]
    for side in sides:
        if side["system"] not in _RANK:
            raise ValueError(f"{side['system']!r} is no system; expected one of {', '.join(_USUAL_ORDER)}")
    return {side["response_id"]: (row["topic"], side["system"]) for side in sides}


def _read_shown(folder: Path) -> tuple[dict[str, str], list[Shown]]:
    """The topic of every answer, and the pairs of every questionnaire."""
    topics: dict[str, str] = {}
    pairs: dict[str, set[Pair]] = defaultdict(set)
    for row in rows_of(folder / "raw_study2_responses.jsonl.gz", lambda row: row):
        pair = (str(row["response_a"]), str(row["response_b"]))
        pairs[str(row["submission_id"])].add(pair)
        topics |= dict.fromkeys(pair, str(row["query_id"]))
    return topics, list(pairs.values())
