"""Content-addressed identity: the same inputs always give the same id.

Delivery is at least once. Results are effectively once, because the id of every output is a hash of its
inputs and a second write under the same id changes nothing.
"""

import hashlib
import json
import unicodedata


def content_hash(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, in lower-case hexadecimal (64 characters).

    >>> content_hash("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def derived_id(*parts: object) -> str:
    """An id of 32 hexadecimal characters derived from an ordered list of parts.

    The parts are joined as JSON, so that ("ab", "c") and ("a", "bc") differ.

    Args:
        parts: Strings, numbers, booleans, None, or lists and mappings of those.

    Raises:
        TypeError: A part has no JSON form.

    >>> derived_id("ab", "c") == derived_id("a", "bc")
    False
    """
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return content_hash(text)[:32]


def same_query(query: str) -> str:
    """A query without what makes no other query: letter case, width of characters and white space.

    >>> same_query("What  IS Ｔea?")
    'what is tea?'
    """
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split())
