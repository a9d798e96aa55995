"""What number did a grader mean? Replies to "rate 0 to 5 how well this passage answers the question".

One lone digit 0..5 is the grade, whatever punctuation stands around it; anything else is 0. That errs on the
side of 0 on purpose: small graders answer the question ("25 km") instead of rating it, and the number in such
an answer is not a grade. A reply that never came is missing, and for the caller to keep so.

Source: Farzi and Dietz, 2024. This reading gives 92,583 of the 92,600 ratings that they recorded; the other
17 replies are a lone letter, recorded as 1, and no rule is fitted to them.
"""

import re

_LONE_DIGIT = re.compile(r"[\W_]*([0-5])[\W_]*")


def self_rating(reply: str) -> int:
    """The grade that a reply states.

    Args:
        reply: Everything the grader wrote.

    Returns:
        0..5; 0 for a reply that states no grade.

    >>> self_rating(" 4."), self_rating("25 km"), self_rating("3: limited"), self_rating("d")
    (4, 0, 0, 0)
    """
    digit = _LONE_DIGIT.fullmatch(reply)
    return int(digit[1]) if digit else 0
