"""Reject JSON that is cheap to send and expensive to parse, before it is parsed.

A parser holds the interpreter while it works. Eight megabytes of text take it milliseconds; the same bytes as
a million small values take it seconds, during which a server answers nobody. What makes the difference, the
number of strings and the bytes outside of them, is counted here by a few passes over the bytes.
"""

SMALL_BYTES = 64 * 1024  # below this nothing is expensive
MAX_STRINGS = 20_000
MAX_BYTES_OUTSIDE = 256 * 1024


class TooManyValues(ValueError):
    """The JSON holds more strings, or more bytes outside of strings, than any valid input has."""


def check_bounds(
    body: bytes, max_strings: int = MAX_STRINGS, max_bytes_outside: int = MAX_BYTES_OUTSIDE
) -> None:
    """Check that parsing takes no longer than the size of the texts demands.

    Args:
        body: JSON in UTF-8. It need not be valid: what is not valid is left to the parser.
        max_strings: Most strings, names of fields included.
        max_bytes_outside: Most bytes outside of strings: numbers, punctuation and white space.

    Raises:
        TooManyValues: One of the two is exceeded.

    >>> try:
    ...     check_bounds(b"[" + b"1," * 50_000 + b"1]", max_bytes_outside=1000)
    ... except TooManyValues as problem:
    ...     print(problem)
    holds 100,003 bytes outside of texts; at most 1,000 are accepted
    """
    if len(body) <= SMALL_BYTES:
        return
    plain = body.replace(b"\\\\", b"").replace(
        b'\\"', b""
    )  # every quotation mark left begins or ends a string
    strings = plain.count(b'"') // 2
    if strings > max_strings:
        raise TooManyValues(f"holds {strings:,} names and texts; at most {max_strings:,} are accepted")
    outside = sum(map(len, plain.split(b'"')[::2]))
    if outside > max_bytes_outside:
        raise TooManyValues(
            f"holds {outside:,} bytes outside of texts; at most {max_bytes_outside:,} are accepted"
        )
