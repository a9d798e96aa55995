"""Who wrote an answer of CrowdRAG-25 and in which style, as far as the recorded files can tell.

responses.jsonl.gz of the full corpus says it outright. Without it three sources are put together:

1. battles.jsonl.gz names the system of every answer on the topics it covers.
2. The id of an answer by the LLM is a name-based UUID of topic, style and "llm".
3. Most questionnaires show every pair the same way round: bullets before essay before news, and of one
   style the human before the LLM. Whatever else such a questionnaire shows is in that order too, which
   often leaves a topic's three human answers only one way to be told apart.

Where more than one way is left the answers stay unnamed. The third source is an inference; on topics
whose authors are known it can be checked, by leaving them out.

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
_LAID_OUT = [f"{kind}-{style}" for style in STYLES for kind in ("human", "llm")]
_PLACE = {system: place for place, system in enumerate(_LAID_OUT)}
_NAMESPACE = uuid.UUID("0e8b439f-cc41-4468-81c1-f2cf514851d9")

# Answer -> (topic, system such as "human-essay").
Authors = dict[str, tuple[str, str]]
# The pairs of one questionnaire as shown, the left one first.
Shown = Collection[Pair]


def read_authors(folder: Path) -> Authors:
    """Answer -> (topic, system such as "human-essay"), for every answer whose author can be told.

    Raises:
        UnusableFile: naming the file, the line and what is wrong with it.
    """
    full = folder / "responses.jsonl.gz"
    if full.exists():
        return dict(
            rows_of(full, lambda row: (row["response"], (row["topic"], f"{row['kind']}-{row['style']}")))
        )
    topics, questionnaires = _read_shown(folder)
    known = _read_named(folder) | by_id(topics)
    return known | by_order(topics, questionnaires, known)


def by_id(topics: Mapping[str, str]) -> Authors:
    """The answers whose id says that the LLM wrote them.

    Args:
        topics: answer -> topic.
    """
    ids = {
        str(uuid.uuid3(_NAMESPACE, f"{topic}{style}llm")): (topic, f"llm-{style}")
        for topic in set(topics.values())
        for style in STYLES
    }
    return {answer: ids[answer] for answer in topics if answer in ids}


def by_order(topics: Mapping[str, str], questionnaires: Iterable[Shown], known: Authors) -> Authors:
    """The human answers that only one style leaves every ordered questionnaire in its order.

    A questionnaire is ordered when it shows pairs of known authors, all of them the same way round.

    Args:
        topics: answer -> topic.
        questionnaires: each as the pairs it showed.
        known: the authors known otherwise. On a topic all of whose other answers are known, the
            unknown ones are taken to be the human answers that are missing.
    """
    shown = [pair for pairs in questionnaires if _is_ordered(pairs, known) for pair in pairs]
    unknown: dict[str, list[str]] = defaultdict(list)
    for answer in topics:
        if answer not in known:
            unknown[topics[answer]].append(answer)
    found: Authors = {}
    for topic, answers in unknown.items():
        taken = {system for of_topic, system in known.values() if of_topic == topic}
        missing = [system for system in _LAID_OUT if system not in taken]
        told_apart = _only_way(answers, missing, [pair for pair in shown if topics[pair[0]] == topic], known)
        found |= {answer: (topic, system) for answer, system in told_apart.items()}
    return found


def _only_way(answers: list[str], missing: list[str], shown: list[Pair], known: Authors) -> Mapping[str, str]:
    """Answer -> system where exactly one assignment keeps every pair in order; else nothing."""
    if len(answers) != len(missing):
        return {}
    ways = []
    for systems in permutations(missing):
        way = dict(zip(answers, systems, strict=True))
        place = {answer: _PLACE[system] for answer, system in way.items()}
        place |= {answer: _PLACE[known[answer][1]] for pair in shown for answer in pair if answer in known}
        if all(place[left] < place[right] for left, right in shown):
            ways.append(way)
    return ways[0] if len(ways) == 1 else {}


def _is_ordered(pairs: Shown, known: Authors) -> bool:
    both = [(known[left][1], known[right][1]) for left, right in pairs if left in known and right in known]
    return bool(both) and all(_PLACE[left] < _PLACE[right] for left, right in both)


def _read_named(folder: Path) -> Authors:
    found: Authors = {}
    for battle in rows_of(folder / "battles.jsonl.gz", _named):
        found |= battle
    return found


def _named(row: Row) -> Authors:
    sides = [row[side] for side in ("a", "b")]
    for side in sides:
        if side["system"] not in _PLACE:
            raise ValueError(f"{side['system']!r} is no system; expected one of {', '.join(_LAID_OUT)}")
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
