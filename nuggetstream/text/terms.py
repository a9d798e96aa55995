"""Comparable terms of a text in any language.

Nothing here knows a language: words are case-folded and cut to a common prefix instead of being
stemmed, and scripts written without spaces are read as character bigrams.
"""

import re

PREFIX_LETTERS = 6  # joins "regulator", "regulators", "regulatory" in most inflected languages

# Letters of scripts written without spaces, for use inside a character class.
UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_TERM = re.compile(rf"[{UNSPACED}]+|\d+(?:[.,]\d+)*|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)?")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")


def terms(text: str) -> tuple[str, ...]:
    """The terms of a text, in order, repetitions kept.

    Words are cut to six letters, numbers kept whole; a run of an unspaced script yields its character
    bigrams. One-letter words of spaced scripts are dropped.

    >>> terms("Regulators paid 2.5 billion")
    ('regula', 'paid', '2.5', 'billio')
    >>> terms("地方新闻")
    ('地方', '方新', '新闻')
    """
    found: list[str] = []
    for run in _TERM.findall(text.casefold()):
        if _IS_UNSPACED.match(run):
            found.extend(run[i : i + 2] for i in range(len(run) - 1) or range(1))
        elif run[0].isdigit():
            found.append(run)
        elif len(run) > 1:
            found.append(run.partition("'")[0].partition("’")[0][:PREFIX_LETTERS])
    return tuple(found)


def word_lengths(text: str) -> list[int]:
    """Letters of each word in scripts with spaces; numbers and unspaced scripts have no word length.

    >>> word_lengths("Paid 2.5 billion 新闻")
    [4, 7]
    """
    return [len(run) for run in _TERM.findall(text) if not run[0].isdigit() and not _IS_UNSPACED.match(run)]
