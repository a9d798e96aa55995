"""Whether the current task is background work, which requests and the pipeline must not wait for."""

from contextvars import ContextVar

IN_BACKGROUND: ContextVar[bool] = ContextVar("in_background", default=False)
"""True in the background tasks of a service, and in the tasks that they start."""
