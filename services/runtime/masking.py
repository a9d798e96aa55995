"""URLs for logs and messages, without the passwords in them."""

import re

_USERINFO = re.compile(r"(?<=://)([^/@:\s]*)(:[^/@\s]*)?@")


def masked_url(url: str) -> str:
    """A URL in which `***` stands for a password, and for a user name without a password (a NATS token).

    >>> masked_url("nats://ada:secret@broker:4222"), masked_url("nats://token@broker:4222")
    ('nats://ada:***@broker:4222', 'nats://***@broker:4222')
    >>> masked_url("http://127.0.0.1:8000/v1")
    'http://127.0.0.1:8000/v1'
    """
    return _USERINFO.sub(lambda match: f"{match[1]}:***@" if match[2] else "***@", url)
