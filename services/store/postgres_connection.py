"""Connections to PostgreSQL that are lost are noticed: within seconds, also where no packet says so.

A host that vanishes closes no connection. Without the time limits below, a statement would wait for a quarter
of an hour, or for ever where nothing is left to be sent.
"""

import asyncio
import math
import socket
from time import monotonic
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Engine, ExceptionContext, event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

_CONNECT_SECONDS = 10  # below every stage's deadline, so that a silent host counts as an outage
_CHECK_SECONDS = 5.0
# A transaction that waits longer for another one, or a statement that takes longer, is cancelled and tried
# again, instead of holding a connection and what it has locked.
_LIMITS = {"lock_timeout": "10s", "statement_timeout": "60s"}
_RECENT_SECONDS = 1.0
_USED = "used at"  # key of the time at which a connection was returned to the pool
_READ_ONLY = "25006"  # SQLSTATE of a write in a read-only transaction

# Options of TCP sockets, where the platform has them. After 15 s of silence the kernel probes the server. It
# ends the connection when three probes, 5 s apart, are not answered, or data is not acknowledged in
# 30 s. A server that works on a long statement answers the probes.
_TCP_OPTIONS = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}


def asyncpg_arguments(url: str) -> dict[str, Any]:
    """Arguments of asyncpg's `connect`.

    Behind a pooler, two clients use one server connection in turn, so that names of prepared statements must
    be unique over all clients, and the driver must not expect a statement that another connection prepared.
    """
    arguments: dict[str, Any] = {
        "timeout": _CONNECT_SECONDS,
        "prepared_statement_name_func": lambda: f"nuggetstream_{uuid4().hex}",
    }
    if is_pooled(url):
        arguments["statement_cache_size"] = 0
    else:
        arguments["server_settings"] = _LIMITS
    return arguments


def is_pooled(url: str) -> bool:
    """Whether the URL says that a pooler may give every transaction another server connection."""
    return make_url(url).query.get("prepared_statement_cache_size") == "0"


def watch_connections(engine: Engine, *, pooled: bool) -> None:
    """Replace connections of a pool that were lost or lead to a former primary.

    Behind a pooler a setting of a connection would be that of other clients, so each transaction gets its
    limits.
    """
    if pooled:
        event.listen(engine, "begin", _limit_transaction)
    event.listen(engine, "connect", _limit_silence)
    event.listen(engine, "checkin", _note_use)
    event.listen(engine, "checkout", _check_after_a_pause)
    event.listen(engine, "handle_error", _leave_former_primary)


def _limit_transaction(connection: Connection) -> None:
    for name, value in _LIMITS.items():  # not by a query, before which the isolation level has to be set
        connection.exec_driver_sql(f"SET LOCAL {name} = '{value}'")


def _limit_silence(connection: Any, _record: ConnectionPoolEntry) -> None:
    """Let the kernel end a connection whose server does not answer any more."""
    # asyncpg gives no public access to its socket.
    connected = connection.driver_connection._transport.get_extra_info("socket")
    if connected is None or connected.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _TCP_OPTIONS.items():
        if hasattr(socket, name):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _note_use(_connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
    record.info[_USED] = monotonic()


def _check_after_a_pause(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
    """Replace a connection that was closed, or whose server vanished, while it was idle.

    One that was used a moment ago is not checked, since that costs as much as a short query.
    """
    if monotonic() - record.info.get(_USED, -math.inf) < _RECENT_SECONDS:
        return
    try:
        connection.run_async(lambda driver: asyncio.wait_for(driver.fetchrow(";"), _CHECK_SECONDS))
    except Exception as error:
        raise DisconnectionError from error


def _leave_former_primary(context: ExceptionContext) -> None:
    """Close all connections of the pool when the server turns out to be read-only.

    After a failover, connections that are open still lead to the former primary, and new ones to the new one.
    """
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
        context.is_disconnect = True
