"""Lists of names in settings and options."""


def names_of(listed: str) -> tuple[str, ...]:
    """The names in a list that is separated by commas, in order.

    >>> names_of("a, b,, ")
    ('a', 'b')
    """
    return tuple(name.strip() for name in listed.split(",") if name.strip())
