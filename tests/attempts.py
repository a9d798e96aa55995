"""Clients that ask a model a few times, so that tests of failures do not wait for the retries of a call."""

from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from unittest import mock

from services.runtime.llm import client
from services.runtime.llm.retries import RetryPolicy


def attempts(number: int) -> AbstractContextManager[Any]:
    """A block in which every client that is made asks so often."""
    return mock.patch.object(client, "RetryPolicy", partial(RetryPolicy, attempts=number))
