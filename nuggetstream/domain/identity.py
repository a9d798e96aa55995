"""Content-addressed identity: the same inputs always give the same id.

Delivery is at least once; results are effectively once because every output's id is a hash of what
it was made from, and writes keyed by that id change nothing the second time.
"""

import hashlib
import json


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
        parts: strings, numbers, booleans, None, or lists and mappings of those.

    Raises:
        TypeError: when a part has no JSON form.

    >>> derived_id("ab", "c") == derived_id("a", "bc")
    False
    """
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return content_hash(text)[:32]
