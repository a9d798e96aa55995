"""What an endpoint says about the length of its context, read from its error messages."""

import re

_BEGINNING = 300  # characters of a message that are the endpoint's own; later ones may repeat the prompt
_SMALLEST_CONTEXT = 512  # tokens
_TOO_LONG = re.compile(
    r"exceed_context_size|(exceed|maximum|longer)[^.]{0,40} context (length|size|window)", re.I
)
_CONTEXT = re.compile(r"context (?:length|size|window)\D{0,20}(\d{3,8})\b", re.I)


def is_about_context(message: str) -> bool:
    """Whether a message says that a prompt and its reply do not fit into the context of the model."""
    return bool(_TOO_LONG.search(message[:_BEGINNING]))


def context_of(message: str) -> int | None:
    """The context in tokens that a message of an endpoint names; None where it names none.

    >>> context_of("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens")
    4096
    >>> context_of("request (9000 tokens) exceeds the available context size (8192 tokens)")
    8192
    """
    match = is_about_context(message) and _CONTEXT.search(message[:_BEGINNING])
    return int(match[1]) if match and int(match[1]) >= _SMALLEST_CONTEXT else None
