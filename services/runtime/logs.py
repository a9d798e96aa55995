"""Logging of a process: readable text or JSON, always to standard error."""

import logging
import sys

import structlog

from services.runtime.masking import KNOWN

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure(level: str, form: str) -> None:
    """Set up logging once, at the start of a process.

    Args:
        level: Lowest level that is logged: "debug", "info", "warning" or "error".
        form: "console" or "json".
    """
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper("iso", utc=True),
            structlog.processors.format_exc_info,
            _without_secrets,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_WithoutSecrets(logging.BASIC_FORMAT))
    logging.basicConfig(level=max(_LEVELS[level], logging.WARNING), handlers=[handler])


def _without_secrets(
    _logger: object, _method: str, entry: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    return {key: _redacted(value) for key, value in entry.items()}


def _redacted(value: object) -> object:
    if isinstance(value, int | float | None):
        return value
    if isinstance(value, list | tuple):
        return [_redacted(item) for item in value]
    return KNOWN.redact(str(value))


class _WithoutSecrets(logging.Formatter):
    """Formats the messages of libraries, tracebacks included, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """The formatted message."""
        return KNOWN.redact(super().format(record))
