"""A span per statement, by OpenTelemetry's semantic conventions for databases.

Statements belong to the request or message that needs them. What runs in no span, such as a task that looks
for work every second, gets none, because each would be a trace of its own. The text of a statement has
placeholders for the values.
"""

import re
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, StatusCode
from sqlalchemy import Connection, Engine, ExceptionContext, event

from services.runtime.trace_export import is_exporting

_SPAN = "statement_span"  # key in the information of a connection, which executes one statement at a time
_LONGEST = 2000  # characters of a text; a list of 500 ids has as many placeholders
_CHANGES = ("insert", "update", "delete")
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|TABLE)\s+(\w+)")


def watch_statements(engine: Engine) -> None:
    """Begin and end the spans of an engine's statements, where the process exports spans."""
    if is_exporting():
        event.listen(engine, "before_cursor_execute", _begin)
        event.listen(engine, "after_cursor_execute", _end)
        event.listen(engine, "handle_error", _fail)


def _begin(
    connection: Connection, _cursor: Any, statement: str, parameters: Any, context: Any, many: bool
) -> None:
    if not trace.get_current_span().is_recording():
        return
    operation, table = _operation(statement, context), _TABLE.search(statement)
    summary = f"{operation} {table[1]}" if table else operation
    attributes: dict[str, Any] = {
        "db.system.name": connection.dialect.name,
        "db.operation.name": operation,
        "db.query.summary": summary,
        "db.query.text": statement[:_LONGEST],
    }
    if many and len(parameters) > 1:
        attributes["db.operation.batch.size"] = len(parameters)
    tracer = trace.get_tracer("nuggetstream")
    connection.info[_SPAN] = tracer.start_span(summary, kind=SpanKind.CLIENT, attributes=attributes)


def _end(connection: Connection, *_: object) -> None:
    span: Span | None = connection.info.pop(_SPAN, None)
    if span is not None:
        span.end()


def _fail(context: ExceptionContext) -> None:
    """End the span of a statement that failed, without the message, which can quote values."""
    connection, error = context.connection, context.original_exception
    span: Span | None = None if connection is None else connection.info.pop(_SPAN, None)
    if span is None:
        return
    state = getattr(error, "sqlstate", None)
    if state:
        span.set_attribute("db.response.status_code", state)
    span.set_attribute("error.type", state or type(error).__qualname__)
    span.set_status(StatusCode.ERROR)
    span.end()


def _operation(statement: str, context: Any) -> str:
    """What a statement does, such as "INSERT"; a common table expression may precede it."""
    for change in _CHANGES:
        if getattr(context, f"is{change}", False):
            return change.upper()
    first = statement.split(None, 1)[0].upper()
    return "SELECT" if first == "WITH" else first
