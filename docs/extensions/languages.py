"""Languages of code blocks that the highlighter does not know; they are shown as plain text."""

from typing import Any

PLAIN = ("csv", "jsonl", "trec")


def setup(app: Any) -> dict[str, bool]:
    """Name the languages."""
    from pygments.lexers.special import TextLexer

    for name in PLAIN:
        app.add_lexer(name, TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
