"""Other searches for a query, queries about a text, and which of them it answers: by words alone."""

import re
from collections.abc import Mapping

from services.offline.heuristics.text import sentences, terms

_WORD = re.compile(r"[^\W\d_]+")
_SHORT, _ABOUT = 3, 4  # letters of a word that says little; words that a query is about


def variations_of(query: str, limit: int) -> list[str]:
    """The terms of a query, then the longer half of them, then all but one of them."""
    words = list(dict.fromkeys(terms(query)))
    longer = sorted(words, key=len, reverse=True)[: (len(words) + 1) // 2]
    without = [[word for word in words if word != left] for left in sorted(words, key=len)]
    lists = [words, [word for word in words if word in longer], *without]
    return [" ".join(kept) for kept in lists if kept][:limit]


def queries_about(text: str, limit: int) -> list[str]:
    """A query about the longest words of each sentence, the sentence with the most different ones first."""
    candidates = []
    for sentence in sentences(text):
        words = list(dict.fromkeys(word for word in _WORD.findall(sentence) if len(word) > _SHORT))
        longest = sorted(words, key=len, reverse=True)[:_ABOUT]
        if len(longest) == _ABOUT:
            candidates.append((len(words), " ".join(word for word in words if word in longest)))
    best = sorted(candidates, key=lambda candidate: -candidate[0])[:limit]
    return [f"What is said about {about}?" for _, about in best]


def answered_by(text: str, queries: Mapping[str, str]) -> list[str]:
    """The ids of the queries of which the text has at least half of the terms."""
    stated, asked = set(terms(text)), {name: terms(query) for name, query in queries.items()}
    return [name for name, own in asked.items() if 2 * sum(term in stated for term in own) >= len(own) > 0]
