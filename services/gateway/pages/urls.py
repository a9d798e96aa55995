"""Which URLs of a battle may become links."""

import re

_WEB = re.compile(r"https?://[^\s]+", re.IGNORECASE)


def is_web(url: str | None) -> bool:
    """Whether a URL may become a link: only http and https.

    >>> is_web("https://example.org/x"), is_web("javascript:alert(1)")
    (True, False)
    """
    return url is not None and _WEB.fullmatch(url) is not None
