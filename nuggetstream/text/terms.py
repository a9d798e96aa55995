"""Comparable terms of a text in any language.

No rule here depends on the language: words are case-folded and cut to a common prefix instead of being
stemmed, and scripts written without spaces are read as character bigrams.
"""

import re

PREFIX_LETTERS = 6  # joins "regulator", "regulators", "regulatory" in most inflected languages

# Letters of scripts written without spaces, for use inside a character class.
UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_TERM = re.compile(rf"[{UNSPACED}]+|\d+(?:[.,]\d+)*|[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)?")
_ASCII_TERM = re.compile(r"\d+(?:[.,]\d+)*|[a-z]+(?:'[a-z]+)?")  # the same for texts without other letters
_FIRST_UNSPACED = "\u0e00"  # spares most words the search
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")


def terms(text: str) -> tuple[str, ...]:
    """The terms of a text in order, with repetitions.

    Words are cut to six letters and numbers are kept whole. A run of an unspaced script becomes its character
    bigrams. Words of one letter in spaced scripts are left out.

    >>> terms("Regulators paid 2.5 billion")
    ('regula', 'paid', '2.5', 'billio')
    >>> terms("地方新闻")
    ('地方', '方新', '新闻')
    """
    folded = text.casefold()
    if folded.isascii():
        runs = _ASCII_TERM.findall(folded)
        return tuple([_ascii_term(run) for run in runs if len(run) > 1 or run.isdigit()])
    in_order: list[str] = []
    for run in _TERM.findall(folded):
        if run[0] >= _FIRST_UNSPACED and _IS_UNSPACED.match(run):
            in_order.extend(run[i : i + 2] for i in range(len(run) - 1) or range(1))
        elif run[0].isdigit():
            in_order.append(run)
        elif len(run) > 1:
            word = run if run.isalpha() else run.partition("'")[0].partition("’")[0]
            in_order.append(word[:PREFIX_LETTERS])
    return tuple(in_order)


def _ascii_term(run: str) -> str:
    if run.isalpha():
        return run[:PREFIX_LETTERS]
    return run if run[0].isdigit() else run.partition("'")[0][:PREFIX_LETTERS]


def word_lengths(text: str) -> list[int]:
    """Number of letters of each word; numbers and words of scripts without spaces are left out.

    >>> word_lengths("Paid 2.5 billion 新闻")
    [4, 7]
    """
    return [len(run) for run in _TERM.findall(text) if not run[0].isdigit() and not _IS_UNSPACED.match(run)]
