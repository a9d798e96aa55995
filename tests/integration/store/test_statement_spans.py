"""The spans of statements: whose trace they are in, and what they say."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from sqlalchemy import Column, Connection, MetaData, String, Table, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from services.runtime import trace_export, tracing
from services.runtime.errors import Unavailable
from services.store.database import Database
from services.store.sqlite_threads import Each
from tests.integration.store.conftest import WAIT

SECRET = "what-a-person-wrote"
_words = Table("words", MetaData(), Column("word", String, primary_key=True))


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The SDK's provider as in a process that exports, with spans that stay in memory."""
    exporter = InMemorySpanExporter()
    provider = trace_export.provider("test", [SimpleSpanProcessor(exporter)])
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


@pytest.fixture
async def traced(exporter: InMemorySpanExporter, empty_url: str) -> AsyncIterator[Database]:
    database = Database(empty_url, wait=WAIT)
    await database.write(_words.create)
    assert not exporter.get_finished_spans()  # outside of any span
    yield database
    await database.close()


def statements(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.kind is SpanKind.CLIENT]


def add(connection: Connection, words: Sequence[str]) -> list[None]:
    connection.execute(insert(_words), [{"word": word} for word in words])
    return [None] * len(words)


async def test_a_statement_is_a_span_of_its_caller_without_the_values(
    traced: Database, exporter: InMemorySpanExporter
) -> None:
    with tracing.span("process") as caller:
        await traced.write(Each(add, SECRET))
        async with traced.reading() as tx:
            await tx.execute(select(_words).where(_words.c.word == SECRET))
    spans = {span.name: span for span in statements(exporter)}
    assert {"INSERT words", "SELECT words"} <= spans.keys()
    for operation in ("INSERT", "SELECT"):
        span = spans[f"{operation} words"]
        assert span.parent is not None
        assert span.parent.span_id == caller.get_span_context().span_id
        attributes = dict(span.attributes or {})
        assert attributes.pop("db.query.text").startswith(operation)  # type: ignore[union-attr]
        assert attributes == {
            "db.system.name": "sqlite" if traced.is_sqlite else "postgresql",
            "db.operation.name": operation,
            "db.query.summary": f"{operation} words",
        }
    assert SECRET not in "".join(span.to_json() for span in exporter.get_finished_spans())


async def test_many_rows_are_one_span_with_their_number_and_a_common_table_expression_is_no_operation(
    traced: Database, exporter: InMemorySpanExporter
) -> None:
    with tracing.span("process"):
        async with traced.transaction() as tx:
            await tx.execute(insert(_words), [{"word": "one"}, {"word": "two"}])
            await tx.execute(text("WITH few AS (SELECT word FROM words) SELECT word FROM few"))
    inserted, selected = statements(exporter)
    assert (inserted.attributes or {})["db.operation.batch.size"] == 2
    assert (selected.attributes or {})["db.operation.name"] == "SELECT"


async def test_a_failed_statement_says_its_error_and_quotes_nothing(
    traced: Database, exporter: InMemorySpanExporter
) -> None:
    with tracing.span("process"):
        await traced.write(Each(add, SECRET))
        with pytest.raises(IntegrityError) as raised:
            await traced.write(Each(add, SECRET))
        malformed = text("SELECT 1 FROM words WHERE word = :word AND )")
        with pytest.raises((DBAPIError, Unavailable)):
            await traced.read(lambda tx: tx.execute(malformed, {"word": SECRET}))
    assert f"'{SECRET}'" not in str(raised.value)
    duplicate, malformed_one = [
        span for span in statements(exporter) if span.status.status_code is StatusCode.ERROR
    ]
    assert (malformed_one.attributes or {})["db.query.text"]
    assert (duplicate.attributes or {})["error.type"] == ("IntegrityError" if traced.is_sqlite else "23505")
    assert SECRET not in "".join(span.to_json() for span in statements(exporter))


async def test_a_statement_for_several_callers_is_in_a_trace_of_its_own_that_is_linked_to_theirs(
    traced: Database, exporter: InMemorySpanExporter
) -> None:
    async def caller(word: str) -> trace.Span:
        with tracing.span(word) as span:
            await traced.write(Each(add, word))
        return span

    spans = await asyncio.gather(caller("one"), caller("two"))
    callers = {span.get_span_context().span_id for span in spans}
    inserted = [span for span in statements(exporter) if span.name == "INSERT words"]
    if not traced.is_sqlite:
        assert {span.parent.span_id for span in inserted if span.parent} == callers
        return
    [group] = [span for span in exporter.get_finished_spans() if span.name == "group"]
    assert {link.context.span_id for link in group.links} == callers
    assert [span.parent for span in inserted] == [group.context]


async def test_without_a_collector_nothing_listens_to_statements(empty_database: Database) -> None:
    assert not list(empty_database.engine.sync_engine.dispatch.before_cursor_execute)
