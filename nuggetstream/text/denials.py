"""Whether one of two sentences denies the other: a contradiction found without a model."""

import re
from functools import lru_cache

from nuggetstream.text.citations import without_citations
from nuggetstream.text.light_words import words
from nuggetstream.text.terms import terms

_SHORT = re.compile(
    r"\b(?:(could|would|should|do|does|did|is|are|was|were|has|have|had)n['’]t|(can)(?:['’]t|not))\b"
)
# Openings that name who says it, and openings that deny the clause behind them.
_REPORTED = re.compile(
    r"\A(?:(?:[\w.'’-]+ ){1,4}(?:says?|shows?|states?|confirms?|explains?|agrees?|found"
    r"|sagt|sagen|zeigt|zeigen),? (?:that|dass)|(?:according to|laut) (?:[\w.'’-]+ ){0,4}[\w.'’-]+,) "
)
_UNTRUE = re.compile(
    r"\A(?:(?:it is|it['’]s) (?:not (?:true|the case|correct)|false|untrue|wrong"
    r"|a (?:common |popular |widespread )?(?:myth|misconception))|there is no evidence),? that "
    r"|\A(?:es ist (?:ein mythos|falsch|nicht wahr),? dass |c['’]est un mythe (?:que |qu['’])"
    r"|il est faux (?:que |qu['’])|es (?:un mito|falso) que |यह (?:एक )?मिथक है कि )"
)
_BY_NO_MEANS = re.compile(
    r"\b(?:in no way|by no means|under no circumstances|no(?= [^\W\d])"
    r"|keineswegs|in keiner weise|auf keinen fall)\b"
)
_REASON = re.compile(r", (?:because|since|as|so|although|though|weil|da|denn|obwohl) .*", re.S)
_OR = re.compile(r"\bnot (\w+) or \w+(?: (?:with|to|on|in))?\b")  # two things that are denied at once
_EMPHASIS = re.compile(  # makes a negation stronger and changes nothing else
    r"\b(?:in any way|at all|whatsoever|by any means|under any circumstances|actually|in fact|überhaupt)\b"
)
_NEGATIONS = words(
    "not never nicht nie niemal kein keine keinen keiner keines keinem jamais aucun aucune nunca jamás "
    "ningún ningun neithe nor none nobody nothin withou ohne sans sin"
)
_MAYBE = re.compile(  # part of every denial
    "no|n['’]t|never|ni[ce]|niemals|kein|false|wrong|untrue|myth|misconc|pas|jamais|aucun|nunca|jamás|ning|without|ohne|sans|\bsin\b"
    "|नहीं|नही|मिथक|mythos|falsch|mito"
)
# French has two words around the verb, Hindi one that is written with marks.
_NE = re.compile(r"\bn(?:e\s+|['’])(?=(?:[^\W\d]['’])?\w+(?:\s+\w+){0,3}?\s+(pas|jamais|aucune?|point)\b)")
_PAS = re.compile(r"\bpas\b(?!-)")
_NAHIN = re.compile(r"(?:कभी\s+)?(?:नहीं|नही)(?=\s|[।,.!?]|$)")
_UNCOUNTED = words("do does did")  # words that a negation brings with it
# With these a negation leaves room for the claim: "not all", "not only", "not yet".
_PARTIAL = words("all only always every just necess yet until unless alle nur")
_LEAST, _MOST_MORE = 3, 3  # terms that a denial has at least, and that a claim has more than it at most


def is_denied(claim: str, sentence: str) -> bool:
    """Whether one of the two has a negation and says otherwise nothing that the other does not say.

    English, German, French, Spanish and Hindi are read. All other terms of the negated sentence must stand in
    the other one, in the same order: that herbal tea does not contain caffeine is no denial of "Tea contains
    caffeine". Words that only make a negation stronger ("in any way") do not count, and neither does a reason
    behind a comma or an opening that names a speaker.

    >>> is_denied("The vaccine changes your DNA.", "The vaccine does not change your DNA in any way [1].")
    True
    >>> is_denied("Tea contains caffeine.", "Herbal tea does not contain caffeine.")
    False
    """
    if not (_may_deny(claim) or _may_deny(sentence)):
        return False
    (claimed, negations), (stated, other_negations) = _content(claim), _content(sentence)
    if {negations, other_negations} != {0, 1}:
        return False
    negated, positive = (claimed, stated) if negations else (stated, claimed)
    if len(negated) < _LEAST or len(positive) - len(negated) > _MOST_MORE or not _PARTIAL.isdisjoint(negated):
        return False
    remaining = iter(positive)
    return all(term in remaining for term in negated)


def negations(text: str) -> int:
    """How many words of a text negate something, in the languages of `is_denied`.

    One that leaves room for the claim, as in "not only" and "not until", does not count.

    >>> negations("Bats are blind."), negations("Les chauves-souris ne sont pas aveugles.")
    (0, 1)
    """
    if not _may_deny(text):
        return 0
    said, count = _content(text)
    return 0 if count == 1 and not _PARTIAL.isdisjoint(said) else count


@lru_cache(maxsize=4096)  # sentences are compared with every nugget
def _may_deny(text: str) -> bool:
    return _MAYBE.search(text.casefold()) is not None


@lru_cache(maxsize=4096)
def _content(text: str) -> tuple[tuple[str, ...], int]:
    """The terms of a text without negations, and the number of these."""
    folded = _REPORTED.sub("", _REASON.sub("", without_citations(text).casefold().strip()))
    if "pas" in folded or "jamais" in folded or "aucun" in folded:
        folded = _PAS.sub("not", _NE.sub("", folded))
    folded = _NAHIN.sub(" not ", folded)
    folded = _EMPHASIS.sub("", _BY_NO_MEANS.sub("not", _UNTRUE.sub("not ", folded)))
    found = terms(_OR.sub(r"not \1", _SHORT.sub(r"\1\2 not", folded)))
    kept = tuple(word for word in found if word not in _NEGATIONS and word not in _UNCOUNTED)
    return kept, sum(word in _NEGATIONS for word in found)
