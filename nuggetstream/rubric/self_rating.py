"""What number did a grader mean? Replies to "rate 0 to 5 how well this passage answers the question".

    strict      one lone digit 0..5, whatever punctuation stands around it; anything else is 0
    workbench   strict, and one lone letter is 1: how the recorded ratings of TREC DL 2019 were read
    tolerant    also a reply that starts with its digit and goes on to explain: "3: some gaps" is 3

Strict errs on the side of 0 on purpose: small graders answer the question ("25 km") instead of rating
it, and the number in such an answer is no grade. `None` is never returned for a reply that is there; a
reply that never came is for the caller to keep missing.

Source: Farzi and Dietz, 2024; the letter rule is read off the recorded answers (17 of 92,600).
"""

import re
from enum import StrEnum

_LONE_DIGIT = re.compile(r"[\W_]*([0-5])[\W_]*")
_LONE_LETTER = re.compile(r"[\W_]*[^\W\d_][\W_]*")
# What follows the digit tells a grade with its reason ("3: some gaps", "4/5") from a quantity ("5 days").
_EXPLAINED = re.compile(
    r"\s*(?:(?:rating|grade|score)\s*(?:is|:|=)?\s*)?([0-5])(?:\s*/\s*5\b)?"
    r"(?:[:)]\s*\D|\s[–—-]\s+\D|\.\s+\D|\s*\n|[\s.]*$)",
    re.IGNORECASE,
)


class Reading(StrEnum):
    """How forgiving the reading is."""

    STRICT = "strict"
    WORKBENCH = "workbench"
    TOLERANT = "tolerant"


def self_rating(reply: str, reading: Reading = Reading.STRICT) -> int:
    """The grade a reply states.

    Args:
        reply: all the grader wrote.
        reading: how forgiving.

    Returns:
        0..5.

    >>> self_rating(" 4."), self_rating("25 km"), self_rating("3: limited"), self_rating("9")
    (4, 0, 0, 0)
    >>> self_rating("3: limited", Reading.TOLERANT), self_rating("d", Reading.WORKBENCH)
    (3, 1)
    """
    if found := _LONE_DIGIT.fullmatch(reply):
        return int(found[1])
    if reading is Reading.WORKBENCH and _LONE_LETTER.fullmatch(reply):
        return 1
    if reading is Reading.TOLERANT and (found := _EXPLAINED.match(reply)):
        return int(found[1])
    return 0
