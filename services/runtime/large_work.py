"""Work that grows with a text: small texts at once, large ones in a thread, so that others are served."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_LARGE = 256 * 1024  # parsing or hashing these takes a few milliseconds; a thread costs a tenth of one


async def sized(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of a function.

    Args:
        size: Characters or bytes that it works on.
        work: The function.
        args: Its arguments.
        kwargs: Its named arguments.
    """
    if size <= _LARGE:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
