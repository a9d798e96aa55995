"""What number did a grader mean? Replies to "rate 0 to 5 how well this passage answers the question".

    strict      one lone digit 0..5, whatever punctuation stands around it; anything else is 0
    tolerant    also a reply that starts with its digit and goes on to explain: "3: some gaps" is 3

Strict errs on the side of 0 on purpose: small graders answer the question ("25 km") instead of rating
it, and the number in such an answer is not a grade. A reply that never came is missing, and for the caller
to keep so.

Source: Farzi and Dietz, 2024. Strict reading gives 92,583 of the 92,600 ratings that they recorded; the other
17 replies are a lone letter, recorded as 1, and no rule is fitted to them.
"""

import re
from enum import StrEnum

_LONE_DIGIT = re.compile(r"[\W_]*([0-5])[\W_]*")
# What follows the digit tells a grade with its reason ("3: some gaps", "4/5") from a quantity ("5 days").
_EXPLAINED = re.compile(
    r"\s*(?:(?:rating|grade|score)\s*(?:is|:|=)?\s*)?([0-5])(?:\s*/\s*5\b)?"
    r"(?:[:)]\s*\D|\s[–—-]\s+\D|\.\s+\D|\s*\n|[\s.]*$)",
    re.IGNORECASE,
)


class Reading(StrEnum):
    """How forgiving the reading is."""

    STRICT = "strict"
    TOLERANT = "tolerant"


def self_rating(reply: str, reading: Reading = Reading.STRICT) -> int:
    """The grade that a reply states.

    Args:
        reply: Everything the grader wrote.
        reading: How forgiving the reading is.

    Returns:
        0..5; 0 for a reply that states no grade.

    >>> self_rating(" 4."), self_rating("25 km"), self_rating("3: limited"), self_rating("d")
    (4, 0, 0, 0)
    >>> self_rating("3: limited", Reading.TOLERANT)
    3
    """
    if digit := _LONE_DIGIT.fullmatch(reply):
        return int(digit[1])
    if reading is Reading.TOLERANT and (explained := _EXPLAINED.match(reply)):
        return int(explained[1])
    return 0
