"""Output that repeats itself: a small model that has lost its way writes the same until its limit."""

_REPEATED = 300  # characters; no text that means something repeats itself for so long
_TIMES = 4  # repetitions, at least
_LONG_UNIT, _LONG_TIMES = 200, 2  # characters; repetitions of so long a unit, such as some facts of a list
_LONGEST_UNIT = 1500  # characters
_PROBE = 16  # characters by which a former occurrence is found

WINDOW = (_LONG_TIMES + 1) * _LONGEST_UNIT  # characters at the end that decide


def repetition(text: str) -> int | None:
    """Number of characters at the end of a text that only repeat what is before them; None without any.

    What is repeated is a unit of at most 1,500 characters. The text repeats it at least four times, from 200
    characters on twice, and for at least 300 characters.

    >>> repetition("Tides rise. " + "They fall. " * 40)
    431
    >>> repetition("They fall. " * 3) is None
    True
    """
    tail = text[-WINDOW:]
    if len(tail) <= _REPEATED:
        return None
    probe, end = tail[-_PROBE:], len(tail)
    while (end := tail.rfind(probe, 0, end - 1)) >= 0:
        unit = len(tail) - _PROBE - end
        if unit > _LONGEST_UNIT:
            return None
        if _repeats(tail, unit):
            return _length(text, unit)
        end += _PROBE
    return None


def _repeats(tail: str, unit: int) -> bool:
    least = max(_REPEATED, (_TIMES if unit < _LONG_UNIT else _LONG_TIMES) * unit)
    end = tail[-least - unit :]
    return len(end) == least + unit and end[unit:] == end[:-unit]


def _length(text: str, unit: int) -> int:
    """How much of the text continues the repetition of its last unit."""
    begin = len(text)
    while begin > unit and text[begin - 1] == text[begin - 1 - unit]:
        begin -= 1
    return len(text) - begin
