"""Is an HTML document only the shell of an application, whose scripts make the page?

Such documents have scripts, an element for what these make, and no text but perhaps a word such as "Loading".
Documents of pictures or forms without text are none, because a browser would show the same.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

_PLACEHOLDER_CHARS = 40  # of all visible text outside of noscript
_MOST_ELEMENTS = 2_000  # of the body; shells have few
_CONTAINERS = frozenset({"div", "main", "section", "article"})
_SHOWN = ("img", "picture", "video", "audio", "iframe", "frame", "object", "embed", "form", "input")
_SCRIPT_TYPES = frozenset({"", "module", "text/javascript", "application/javascript"})


def is_shell(tree: Any, visible: str) -> bool:
    """Whether scripts make the page that a document shows.

    Args:
        tree: The document as lxml has it.
        visible: Beginning of its visible text.
    """
    body = tree.find("body")
    if body is None or not any(_runs(script) for script in tree.iter("script")):
        return False
    notices = sum(len("".join(notice.itertext())) for notice in body.iter("noscript"))
    if len(visible) - notices > _PLACEHOLDER_CHARS:
        return False
    elements = list(islice(body.iter(), _MOST_ELEMENTS + 1))
    return len(elements) <= _MOST_ELEMENTS and not _shows(elements) and any(map(_can_be_filled, elements))


def _runs(script: Any) -> bool:
    kind = (script.get("type") or "").strip().lower()
    return kind in _SCRIPT_TYPES and bool(script.get("src") or (script.text or "").strip())


def _shows(elements: Iterable[Any]) -> bool:
    """Whether there is something to see that is no text; pictures that only count visitors are not shown."""
    return any(
        element.tag in _SHOWN and not any(parent.tag == "noscript" for parent in element.iterancestors())
        for element in elements
    )


def _can_be_filled(element: Any) -> bool:
    """Whether scripts can find an element: a container with an id, or an element of their own."""
    if not isinstance(element.tag, str):
        return False
    return "-" in element.tag or (element.tag in _CONTAINERS and bool(element.get("id")))
