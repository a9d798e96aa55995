"""Errors of the database as the errors of the platform: is the database away, or is the work at fault?"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Outage, Unavailable

# SQLSTATEs, or their first characters, of temporary conditions of the server: a lost connection, an unknown
# user or database (while passwords are changed or dumps restored), a deadlock or a serialization failure, no
# space or connections left, a statement that was cancelled, such as by its timeout, a shutdown or a start in
# progress, a failed disk, a lock that another transaction holds, and a former primary that is read-only.
_TEMPORARY = ("08", "28", "3D", "40", "53", "57014", "57P", "58", "55P03", "25006")
_BUSY_SECONDS = 5.0  # until a client should ask again


class Busy(Outage):
    """All connections of a process to the database are in use, so nobody has asked the database.

    Args:
        owner: What the process runs, such as "gateway".
    """

    def __init__(self, owner: str) -> None:
        detail = f"the {owner} is busy: all of its connections to the database are in use"
        super().__init__(Reason.STORE_UNAVAILABLE, detail, _BUSY_SECONDS)


@contextmanager
def as_unavailable(owner: str = "process") -> Iterator[None]:
    """Raise `Outage` or `Unavailable` for errors of the database that are no fault of the statements.

    An error of the driver, such as too many parameters, is one only where the connection was lost.

    Args:
        owner: What the process runs, for `Busy`.
    """
    try:
        yield
    except PoolTimeout as error:
        raise Busy(owner) from error
    except (OperationalError, OSError) as error:
        raise _unavailable(error) from error
    except DBAPIError as error:
        if error.connection_invalidated or _is_temporary(error):
            raise _unavailable(error) from error
        raise


def _is_temporary(error: DBAPIError) -> bool:
    """Whether the error comes from a temporary condition of the server and not from the statement."""
    state = getattr(error.orig, "sqlstate", None)
    return isinstance(state, str) and state.startswith(_TEMPORARY)


def _unavailable(error: Exception) -> Unavailable:
    cause = getattr(error, "orig", None) or error
    # SQLite has one class of error for a full disk and for a missing table.
    kind = Unavailable if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR else Outage
    detail = "the database does not answer"
    if kind is Unavailable:
        detail = "the database cannot carry out a statement"
    elif getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        detail = "the database has no room on its disk (ENOSPC)"
    message = str(cause) or type(cause).__name__  # a timeout has no message
    return kind(Reason.STORE_UNAVAILABLE, detail, admin_detail=message)
